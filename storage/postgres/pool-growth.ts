import type pg from 'pg';
import { LIMITS } from '../limits.js';

/**
 * When a pool opens a further connection. pg's pool opens one for each statement that finds none idle, and has the statement wait for it, even
 * though those in use are free again long before a backend has started. Here a statement waits for one that is given back; while any has been waiting
 * for `LIMITS.pool_growth_ms` on end, one more is opened, up to the pool's bound. So a burst of short statements opens few, and one of long ones all.
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
  /** Runs while any waits. */
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(pool: pg.Pool) {
    this.#pool = pool;
    // It is told of before the connection is among the idle ones.
    pool.on('release', () => {
      if (this.#waiting.size > 0) process.nextTick(() => this.#serve());
    });
  }

  /** Statements that wait here. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Resolves when a connection is to be asked for; undefined: now. */
  turn(): Promise<void> | undefined {
    if (this.#closed || (this.#waiting.size === 0 && this.#room > 0)) return undefined; // I1
    return new Promise((resolve) => {
      this.#waiting.set(resolve, this.#period);
      this.#timer ??= setTimeout(this.#grow, LIMITS.pool_growth_ms);
    });
  }

  /** All that wait ask now, and who comes later asks at once. Resolves once they have. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#serve(this.#waiting.size);
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
    if (this.#waiting.size > 0) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  readonly #grow = (): void => {
    this.#period++;
    this.#timer = setTimeout(this.#grow, LIMITS.pool_growth_ms);
    this.#serve(Math.max(1, this.#room));
  };
}
