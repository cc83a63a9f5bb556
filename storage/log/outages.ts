import { LIMITS } from '../limits.js';
import type { OutageEvents } from '../postgres/reachability.js';
import type { Logger } from './log.js';

/**
 * Tells an outage of the database once for the whole process: one line when the first of its pools cannot reach it any more, one with
 * the length when all of them can again. A failure because of it logs nothing of its own above `debug` (log.ts).
 *
 * I1. Pools notice an outage and its end each for themselves: it is over when none has been away for LIMITS.outage_settled_ms, and its
 *     length ends where that time begins.
 */
export class Outages {
  /** Outages that began. */
  total = 0;
  readonly #log: Logger;
  /** The pools that cannot reach the database now. */
  readonly #away = new Set<string>();
  #since: number | undefined;
  #settled: NodeJS.Timeout | undefined;

  constructor(log: Logger) {
    this.#log = log;
  }

  /** True while a pool cannot reach the database. */
  get away(): boolean {
    return this.#away.size > 0;
  }

  /** What a pool of this name tells. */
  pool(name: string): OutageEvents {
    return { began: (error) => this.began(name, reasonOf(error)), ended: () => this.ended(name) };
  }

  began(pool: string, reason: string): void {
    this.#away.add(pool);
    clearTimeout(this.#settled);
    if (this.#since !== undefined) return;
    this.#since = performance.now();
    this.total++;
    this.#log.error({ pool, reason }, 'database: it cannot be reached');
  }

  /** The pool reaches it again, or is gone. */
  ended(pool: string): void {
    if (!this.#away.delete(pool) || this.away || this.#since === undefined) return;
    const lasted_ms = Math.round(performance.now() - this.#since);
    const settled = () => {
      this.#since = undefined;
      this.#log.warn({ lasted_ms }, 'database: it can be reached again');
    };
    this.#settled = setTimeout(settled, LIMITS.outage_settled_ms).unref(); // I1
  }
}

/** In one line, without what libraries attach. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message.slice(0, LIMITS.error_message_characters) : String(error);
}
