/**
 * The deadline of a run as one value: the running time left, and what happens when it is over. Time spent waiting for
 * the user or for `proceed` does not count (OPS-17): `pause` stops the clock, `resume` starts it again.
 */
export class RunningTime {
  #left_ms: number;
  #expired: () => void;
  #since = 0;
  #timer: NodeJS.Timeout | undefined;

  /** Starts at once. `expired` runs at most once, never while paused. */
  constructor(left_ms: number, expired: () => void) {
    this.#left_ms = left_ms;
    this.#expired = expired;
    this.resume();
  }

  /** Milliseconds left, at least 1: as a bound for one step. */
  atMost(step_ms: number): number {
    const elapsed_ms = this.#timer ? performance.now() - this.#since : 0;
    return Math.max(1, Math.min(step_ms, this.#left_ms - elapsed_ms));
  }

  pause(): void {
    if (!this.#timer) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#left_ms -= performance.now() - this.#since;
  }

  resume(): void {
    if (this.#timer) return;
    this.#since = performance.now();
    this.#timer = setTimeout(this.#expired, Math.max(0, this.#left_ms));
  }

  /** Stops the clock for good. */
  stop(): void {
    this.pause();
    this.#expired = () => {};
  }
}
