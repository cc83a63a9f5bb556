import type { ActorSystem, Submission, SubmitOutcome } from '../../../actors/system.js';
import type { Sql } from '../../../storage/postgres/database.js';
import { pingDatabase } from '../../../storage/postgres/liveness.js';
import { Deadline } from '../../../storage/process/deadline.js';
import { LIMITS } from '../limits.js';

/**
 * The same system, but that no submission waits for a database that is away: one that is not answered in time is answered as
 * failed, unless the database answers `control`, and it is only slow. Of a failed one nothing is promised, and its client sends
 * it again with its key. `stored` is told how long each took that was stored.
 */
export function withPromptSubmissions(
  system: ActorSystem,
  control: Sql,
  stored: (took_ms: number) => void = () => {},
): ActorSystem {
  const submissions = new PromptSubmissions(system, control, stored);
  return {
    log: system.log,
    submit: (submission) => submissions.submit(submission),
    crowded: (connectionId) => system.crowded(connectionId),
    hint: (hint) => system.hint(hint),
    awaitable: (operation, after, timeout_ms) => system.awaitable(operation, after, timeout_ms),
    get wakeUps() {
      return system.wakeUps;
    },
    status: () => system.status(),
  };
}

interface Waiting {
  since: number;
  /** When it is looked at next, by the monotonic clock. */
  due: number;
  fail(): void;
}

/**
 * The submissions that are not answered yet. Thousands wait at a time, and hardly one of them for long: they share one timer.
 *
 * Invariants: I1 they stand in the order in which they are due; I2 the timer runs while one waits, and never twice.
 */
class PromptSubmissions {
  readonly #system: ActorSystem;
  readonly #control: Sql;
  readonly #stored: (took_ms: number) => void;
  readonly #waiting = new Set<Waiting>(); // I1
  #looking = false;

  constructor(system: ActorSystem, control: Sql, stored: (took_ms: number) => void) {
    this.#system = system;
    this.#control = control;
    this.#stored = stored;
  }

  submit(submission: Submission): Promise<SubmitOutcome> {
    return new Promise((resolve, reject) => {
      const since = performance.now();
      const waiting = { since, due: since + LIMITS.submission_ms, fail: () => resolve({ kind: 'failed' }) };
      this.#waiting.add(waiting);
      if (!this.#looking) this.#lookLater();
      const done = <T>(answer: (value: T) => void) => {
        return (value: T) => {
          this.#waiting.delete(waiting);
          answer(value);
        };
      };
      const answered = done(resolve);
      this.#system.submit(submission).then((outcome) => {
        if (outcome.kind === 'created') this.#stored(performance.now() - since);
        answered(outcome);
      }, done(reject));
    });
  }

  /** I2 */
  #lookLater(): void {
    const [first] = this.#waiting;
    this.#looking = first !== undefined;
    if (first) setTimeout(() => void this.#look(), Math.max(0, first.due - performance.now()));
  }

  async #look(): Promise<void> {
    const [first] = this.#waiting;
    if (first && first.due <= performance.now()) {
      const reachable = await this.#reachable();
      const now = performance.now();
      for (const waiting of this.#waiting) {
        if (waiting.due > now) break;
        this.#waiting.delete(waiting);
        if (!reachable || now - waiting.since > LIMITS.slow_submission_ms) waiting.fail();
        else this.#waiting.add(Object.assign(waiting, { due: now + LIMITS.submission_ms })); // I1
      }
    }
    this.#lookLater();
  }

  #reachable(): Promise<boolean> {
    return Deadline.within(LIMITS.database_answer_ms, pingDatabase(this.#control)).then(
      () => true,
      () => false,
    );
  }
}
