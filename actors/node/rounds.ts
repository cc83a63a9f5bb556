import { setTimeout as delay } from 'node:timers/promises';
import { retryWaits } from '../retry.js';

/**
 * Does the same work again and again, one round after the other: `interval_ms` after a round's begin, or as soon as it is
 * over if that is later. A round that failed is followed by the next one after the waits of a back-off.
 */
export class Rounds {
  readonly #stop = new AbortController();
  readonly #ended: Promise<void>;

  /** Begins with a wait. `failed` gets what a round threw. */
  constructor(interval_ms: number, round: () => Promise<void>, failed: (error: unknown) => void) {
    this.#ended = this.#run(interval_ms, round, failed);
  }

  /** Begins no further round; resolves when the one under way is over. */
  stop(): Promise<void> {
    this.#stop.abort();
    return this.#ended;
  }

  async #run(interval_ms: number, round: () => Promise<void>, failed: (error: unknown) => void): Promise<void> {
    const { signal } = this.#stop;
    const waits = retryWaits();
    let wait_ms = interval_ms;
    while (await delay(wait_ms, true, { signal }).catch(() => false)) {
      const begun = performance.now();
      try {
        await round();
        waits.reset();
        wait_ms = Math.max(0, interval_ms - (performance.now() - begun));
      } catch (error) {
        failed(error);
        wait_ms = waits.next_ms();
      }
    }
  }
}
