import { monitorEventLoopDelay } from 'node:perf_hooks';
import { quantile } from '../../kit/spread.js';
import { classOf, classOfError, count } from './answers.js';
import { LIMITS } from './limits.js';
import { type Answers, KINDS, type Kind, type KindResult, type Measured } from './messages.js';

/** How a piece of the neighbour's work ended: a status, or 0 and the error in its place. */
export interface Ended {
  status: number;
  error?: unknown;
}

/**
 * What the neighbour sees from its begin to its end.
 *
 * I1  Latencies are those of successes, and of what had no answer in time, which took at least as long as it waited. A refusal has
 *     none: it is quick, and no service. It counts as failed.
 */
export class Phase {
  readonly #now: () => number;
  readonly #latencies: Record<Kind, number[]> = { submit: [], poll: [], wait: [], callback: [] };
  readonly #failed: Record<Kind, number> = { submit: 0, poll: 0, wait: 0, callback: 0 };
  readonly #answers: Answers = {};
  /** In nanoseconds; its timer is due each millisecond. */
  readonly #delays = monitorEventLoopDelay({ resolution: 1 });
  #answeredAt: number;
  #stall_ms = 0;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#answeredAt = now();
    this.#delays.enable();
  }

  /** An answer came, whatever it says. */
  answered(status: number): void {
    count(this.#answers, classOf(status));
    this.#noteStall();
    this.#answeredAt = this.#now();
  }

  /** A request ended without one: since the last one that came, nothing did. */
  unanswered(error: unknown): void {
    count(this.#answers, classOfError(error));
    this.#noteStall();
  }

  /** A piece of work that was due at `dueAt` has ended. */
  ended(kind: Kind, dueAt: number, { status, error }: Ended): void {
    const silent = status === 0 && classOfError(error) === 'silent';
    if (silent)
      this.#latencies[kind].push(Math.max(LIMITS.answer_ms, this.#now() - dueAt)); // I1
    else if (status >= 200 && status < 300) this.#latencies[kind].push(this.#now() - dueAt);
    else this.#failed[kind]++;
  }

  end(): Measured {
    const kinds = Object.fromEntries(KINDS.map((kind) => [kind, this.#resultOf(kind)])) as Record<Kind, KindResult>;
    this.#delays.disable();
    const late_ms = this.#delays.percentile(99) / 1e6;
    return { kinds, stall_ms: this.#stall_ms, late_ms, answers: this.#answers };
  }

  #noteStall(): void {
    this.#stall_ms = Math.max(this.#stall_ms, this.#now() - this.#answeredAt);
  }

  #resultOf(kind: Kind): KindResult {
    const taken = this.#latencies[kind];
    const failed = this.#failed[kind];
    const at = (share: number) => quantile(taken, share);
    return { due: taken.length + failed, failed, p50_ms: at(0.5), p99_ms: at(0.99), max_ms: at(1) };
  }
}
