import { setTimeout as delay } from 'node:timers/promises';
import type { Sql } from '../../../storage/postgres/database.js';
import { pingDatabase } from '../../../storage/postgres/liveness.js';
import { LIMITS } from '../limits.js';
import type { RequestScheduler } from './request-scheduler.js';

/**
 * How much later than at its best something answers that all requests wait for. Of each period the quickest answer counts: others
 * may have had more to do.
 */
export class OverloadSignal {
  late_ms = 0;
  #best_ms = Number.POSITIVE_INFINITY;
  #quickest_ms = Number.POSITIVE_INFINITY;

  note(took_ms: number): void {
    this.#quickest_ms = Math.min(this.#quickest_ms, took_ms);
  }

  /** A period is over. With `forgets` the best of before counts for less, for what moved further away or got slower for good. */
  next(forgets: boolean): void {
    if (forgets) this.#best_ms *= LIMITS.best_answer_growth;
    if (Number.isFinite(this.#quickest_ms)) {
      this.#best_ms = Math.min(this.#best_ms, this.#quickest_ms);
      this.late_ms = this.#quickest_ms - this.#best_ms;
      this.#quickest_ms = Number.POSITIVE_INFINITY;
    } else this.late_ms /= 2;
  }
}

/**
 * How late the database is, by a statement that costs nothing, and the commits of submissions, which pass through an actor thread.
 * Measured while requests are at work; while they are of one workspace alone, the best of before is forgotten little by little.
 */
export class AnswerLateness {
  readonly #database = new OverloadSignal();
  readonly #commits = new OverloadSignal();
  readonly #over = new AbortController();

  constructor(db: Sql, pace: Pick<RequestScheduler, 'isAtWork' | 'isContested'>) {
    void this.#measure(db, pace);
  }

  get late_ms(): number {
    return Math.max(this.#database.late_ms, this.#commits.late_ms);
  }

  /** A submission was stored. */
  committed(took_ms: number): void {
    this.#commits.note(took_ms);
  }

  close(): void {
    this.#over.abort();
  }

  async #measure(db: Sql, pace: Pick<RequestScheduler, 'isAtWork' | 'isContested'>): Promise<void> {
    const { signal } = this.#over;
    while (await delay(LIMITS.pace_step_ms, true, { signal, ref: false }).catch(() => false)) {
      if (!pace.isAtWork) continue;
      const askedAt = performance.now();
      // Of a database that does not answer at all nobody has a part.
      await pingDatabase(db).then(
        () => this.#database.note(performance.now() - askedAt),
        () => {},
      );
      this.#database.next(!pace.isContested);
      this.#commits.next(!pace.isContested);
    }
  }
}
