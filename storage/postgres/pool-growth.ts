import type pg from 'pg';
import { LIMITS } from '../limits.js';

/**
 * When a pool opens a further connection. pg's pool opens one for each statement that finds none idle, and has the statement wait for it, even
 * though those in use are free again long before a backend has started. Here a statement waits for one that is given back; while any waits, one
 * more is opened every `LIMITS.pool_growth_ms`, up to the pool's bound. So a burst of short statements opens few, and one of long ones all.
 *
 * I1. First come, first served.
 * I2. A pool that has none opens one at once; in a full pool statements wait as pg has them wait, with its limit.
 * I3. Nobody waits here for longer than a pool takes to become full, also where connections are refused and it never does.
 */
export class PoolGrowth {
  readonly #pool: pg.Pool;
  /** In which period each began to wait. */
  readonly #waiting = new Map<() => void, number>();
  #period = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(pool: pg.Pool) {
    this.#pool = pool;
    // It is told of before the connection is among the idle ones.
    pool.on('release', () => {
      if (this.#waiting.size > 0) process.nextTick(() => this.#serve());
    });
  }

  /** Resolves when a connection is to be asked for; undefined: now. */
  turn(): Promise<void> | undefined {
    if (this.#waiting.size === 0 && this.#room > 0) return undefined; // I1
    return new Promise((resolve) => {
      this.#waiting.set(resolve, this.#period);
      this.#timer ??= setTimeout(this.#grow, LIMITS.pool_growth_ms);
    });
  }

  /** All that wait ask now. Resolves once they have. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    for (const go of this.#waiting.keys()) go();
    this.#waiting.clear();
    await new Promise((resolve) => setImmediate(resolve));
  }

  /** How many may ask now. */
  get #room(): number {
    const { totalCount, idleCount, waitingCount, options } = this.#pool;
    if (totalCount === 0) return 1; // I2
    return totalCount < options.max ? idleCount - waitingCount : Number.POSITIVE_INFINITY; // I2
  }

  #serve(most = this.#room): void {
    let room = most;
    for (const [go, since] of this.#waiting) {
      if (room-- <= 0 && this.#period - since < this.#pool.options.max) break; // I3
      this.#waiting.delete(go);
      go();
    }
  }

  readonly #grow = (): void => {
    this.#period++;
    this.#serve(Math.max(1, this.#room));
    this.#timer = this.#waiting.size > 0 ? setTimeout(this.#grow, LIMITS.pool_growth_ms) : undefined;
  };
}
