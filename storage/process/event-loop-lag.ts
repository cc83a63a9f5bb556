import { monitorEventLoopDelay } from 'node:perf_hooks';
import { LIMITS } from '../limits.js';

/** How long the event loop of this thread was held up, by something that ran too long or by want of a processor. */
export class EventLoopLag {
  readonly #delays = monitorEventLoopDelay({ resolution: LIMITS.loop_lag_resolution_ms });
  #former_s = 0;
  #turnedAt = performance.now();

  constructor() {
    this.#delays.enable();
  }

  /** The longest of the last LIMITS.loop_lag_ms, and up to twice that, in seconds: no scrape misses it. */
  get longest_s(): number {
    const current_s = Math.max(0, this.#delays.max / 1e9 - LIMITS.loop_lag_resolution_ms / 1000);
    const longest_s = Math.max(this.#former_s, current_s);
    if (performance.now() - this.#turnedAt >= LIMITS.loop_lag_ms) {
      this.#turnedAt = performance.now();
      this.#former_s = current_s;
      this.#delays.reset();
    }
    return longest_s;
  }

  close(): void {
    this.#delays.disable();
  }
}
