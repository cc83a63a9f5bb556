import { checkStep, type Steps } from './steps.js';

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
 * - *running*: the clock runs. Entered by the constructor and by `resume`.
 * - *paused*: the time left stays as it is. Entered by `pause`.
 * - *over*: `signal` is aborted, at expiry with the deadline's reason, by `abort` with another. Final.
 * - *stopped*: the signal never aborts any more. Entered by `stop`. Final.
 *
 * A call that does not fit the state (`pause` while paused, anything after a final state) changes nothing.
 *
 * I1. The signal aborts at most once, and by expiry only while the clock runs.
 * I2. Only a running deadline holds a timer.
 * I3. Messages that have already arrived when the time is up are processed before the signal aborts: a stall of this
 *     thread is not mistaken for one of the other side.
 */
export class Deadline {
  readonly #over = new AbortController();
  /** Makes the reason at expiry: an error's stack costs more than all else here. */
  readonly #reason: () => Error;
  #left_ms: number;
  #state: State = { kind: 'paused' };

  /** Starts the clock with `limit_ms` left. `reason` makes what the signal carries at expiry. */
  constructor(limit_ms: number, reason: () => Error = () => new DeadlineExceeded()) {
    this.#left_ms = limit_ms;
    this.#reason = reason;
    this.resume();
  }

  /** Puts `work` under a deadline of its own, with this `reason` at expiry; see `race`. */
  static async within<T>(limit_ms: number, work: Promise<T>, options: WithinOptions<T> = {}): Promise<T> {
    const deadline = new Deadline(limit_ms, options.reason);
    try {
      return await deadline.race(work, options.discard);
    } finally {
      deadline.stop();
    }
  }

  /** Aborts when the deadline is over, with the reason. */
  get signal(): AbortSignal {
    return this.#over.signal;
  }

  /** Milliseconds left, never below 0. */
  get remaining_ms(): number {
    const elapsed_ms = this.#state.kind === 'running' ? performance.now() - this.#state.since : 0;
    return Math.max(0, this.#left_ms - elapsed_ms);
  }

  /** The bound of one step: `step_ms`, or a moment more than the time left, so that the deadline ends it with its own reason. */
  atMost(step_ms: number): number {
    return Math.min(step_ms, this.remaining_ms + MOMENT_ms);
  }

  /** Stops the clock until `resume`. */
  pause(): void {
    if (this.#state.kind === 'running') this.#enter({ kind: 'paused' });
  }

  /** Lets a paused clock go on. */
  resume(): void {
    if (this.#state.kind !== 'paused') return;
    const expire = () => {
      if (this.#state === running) this.#end(this.#reason());
    };
    const timer = setTimeout(() => setImmediate(() => setImmediate(expire)), this.#left_ms); // I3
    const running: State = { kind: 'running', since: performance.now(), timer };
    this.#enter(running);
  }

  /** Ends the deadline before its time: the signal aborts with `reason`. */
  abort(reason: Error): void {
    if (!this.#final) this.#end(reason);
  }

  /** Ends the deadline for good without aborting the signal. */
  stop(): void {
    if (!this.#final) this.#enter({ kind: 'stopped' });
  }

  /**
   * Settles as `work` does, or rejects with the signal's reason when the deadline is over first. A later result of `work` is
   * given to `discard`; a late rejection is ignored.
   */
  async race<T>(work: Promise<T>, discard: (late: T) => void = () => {}): Promise<T> {
    const { signal } = this;
    let lost = false;
    let lose = () => {};
    const over = new Promise<never>((_, reject) => {
      lose = () => {
        lost = true;
        reject(signal.reason);
      };
      signal.addEventListener('abort', lose, { once: true });
    });
    if (signal.aborted) lose();
    work.then((value) => lost && discard(value)).catch(() => {});
    try {
      return await Promise.race([over, work]);
    } finally {
      signal.removeEventListener('abort', lose);
    }
  }

  get #final(): boolean {
    return STEPS[this.#state.kind].length === 0;
  }

  #end(reason: Error): void {
    this.#enter({ kind: 'over' });
    this.#over.abort(reason); // I1
  }

  #enter(next: State): void {
    checkStep('deadline', STEPS, this.#state.kind, next.kind);
    this.#left_ms = next.kind === 'over' ? 0 : this.remaining_ms;
    if (this.#state.kind === 'running') clearTimeout(this.#state.timer); // I2
    this.#state = next;
  }
}

/** Timers that are due together fire in any order; this far apart they do not. */
const MOMENT_ms = 250;

export interface WithinOptions<T> {
  reason?: () => Error;
  discard?: (late: T) => void;
}

type State =
  | { kind: 'running'; since: number; timer: NodeJS.Timeout }
  | { kind: 'paused' }
  | { kind: 'over' }
  | { kind: 'stopped' };

const STEPS: Steps<State['kind']> = {
  running: ['paused', 'over', 'stopped'],
  paused: ['running', 'over', 'stopped'],
  over: [],
  stopped: [],
};
