/** The default reason of a deadline that has expired. */
export class DeadlineExceeded extends Error {
  constructor() {
    super('deadline exceeded');
    this.name = 'DeadlineExceeded';
  }
}

/**
 * A time limit as one value: the time left, a signal that aborts at expiry, and the clean-up of what arrives late.
 *
 * - *running*: the clock runs. Entered by the constructor and by `resume`; left by `pause`, `stop` or expiry.
 * - *paused*: the time left stays as it is. Left by `resume` or `stop`.
 * - *expired*: `signal` is aborted with the deadline's reason. Final.
 * - *stopped*: nothing happens any more. Final.
 *
 * A call that does not fit the state (`pause` while paused, anything after a final state) changes nothing.
 *
 * I1. The signal aborts at most once, and only while the clock runs.
 * I2. No timer is left behind in any state but *running*.
 */
export class Deadline {
  readonly #expiry = new AbortController();
  readonly #reason: Error;
  #left_ms: number;
  #state: State = { kind: 'paused' };

  /** Starts the clock with `limit_ms` left. `reason` is what `signal` and `race` report at expiry. */
  constructor(limit_ms: number, reason: Error = new DeadlineExceeded()) {
    this.#left_ms = limit_ms;
    this.#reason = reason;
    this.resume();
  }

  /** Runs `work` under a deadline of its own; see `race`. */
  static async within<T>(limit_ms: number, work: Promise<T>, discard?: (late: T) => void): Promise<T> {
    const deadline = new Deadline(limit_ms);
    try {
      return await deadline.race(work, discard);
    } finally {
      deadline.stop();
    }
  }

  /** Aborts at expiry, with the deadline's reason. */
  get signal(): AbortSignal {
    return this.#expiry.signal;
  }

  /** Milliseconds left, never below 0. */
  get remaining_ms(): number {
    const elapsed_ms = this.#state.kind === 'running' ? performance.now() - this.#state.since : 0;
    return Math.max(0, this.#left_ms - elapsed_ms);
  }

  /** The bound of one step: `step_ms` or the time left, whichever is less, and at least 1. */
  atMost(step_ms: number): number {
    return Math.max(1, Math.min(step_ms, this.remaining_ms));
  }

  /** Stops the clock until `resume`. */
  pause(): void {
    if (this.#state.kind === 'running') this.#leaveRunning(this.#state, { kind: 'paused' });
  }

  /** Lets a paused clock go on. */
  resume(): void {
    if (this.#state.kind !== 'paused') return;
    const timer = setTimeout(() => this.#expire(), this.#left_ms);
    this.#state = { kind: 'running', since: performance.now(), timer };
  }

  /** Ends the deadline before it expires, for good. */
  stop(): void {
    if (this.#state.kind === 'running') this.#leaveRunning(this.#state, { kind: 'stopped' });
    else if (this.#state.kind === 'paused') this.#state = { kind: 'stopped' };
  }

  /**
   * Settles as `work` does, or rejects with the deadline's reason when it expires first. What `work` resolves with
   * after that is given to `discard`; a late rejection is ignored. Messages that have already arrived at expiry are
   * processed first, so that a stall of this thread is not mistaken for one of the other side.
   */
  async race<T>(work: Promise<T>, discard: (late: T) => void = () => {}): Promise<T> {
    const { signal } = this;
    let late = false;
    let expired = () => {};
    const expiry = new Promise<never>((_, reject) => {
      const lose = () => {
        late = true;
        reject(signal.reason);
      };
      expired = () => setImmediate(() => setImmediate(lose));
      if (signal.aborted) expired();
      else signal.addEventListener('abort', expired, { once: true });
    });
    work.then((value) => late && discard(value)).catch(() => {});
    try {
      return await Promise.race([work, expiry]);
    } finally {
      signal.removeEventListener('abort', expired);
    }
  }

  #expire(): void {
    if (this.#state.kind !== 'running') return;
    this.#leaveRunning(this.#state, { kind: 'expired' });
    this.#left_ms = 0;
    this.#expiry.abort(this.#reason); // I1
  }

  #leaveRunning(running: Running, next: State): void {
    clearTimeout(running.timer); // I2
    this.#left_ms = Math.max(0, this.#left_ms - (performance.now() - running.since));
    this.#state = next;
  }
}

interface Running {
  kind: 'running';
  since: number;
  timer: NodeJS.Timeout;
}

type State = Running | { kind: 'paused' } | { kind: 'expired' } | { kind: 'stopped' };
