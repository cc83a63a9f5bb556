import { ATTEMPT_ERRORS, type AttemptError } from './attempt-error.js';
import { Histogram, type HistogramSnapshot } from './histogram.js';
import type { AttemptResult } from './sender.js';

/** Bounds in seconds; an attempt ends by its deadline (`ATTEMPT_DEADLINE_ms`). */
export const ATTEMPT_BOUNDS_s: readonly number[] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15];

/** Bounds in seconds; five attempts span 156 s and their own time, a replay or a long outage of the receiver hours or days. */
export const LATENCY_BOUNDS_s: readonly number[] = [
  0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 180, 600, 3_600, 21_600, 86_400,
];

/** What the delivery side of one thread did and holds now; plain data, for metrics. */
export interface DeliveryStats {
  /** Attempts that ended, by outcome: `delivered`, or the class of the error. */
  attempts: Record<'delivered' | AttemptError, number>;
  /** How long they took in seconds, within `ATTEMPT_BOUNDS_s`. */
  attempt_s: Record<AttemptResult['outcome'], HistogramSnapshot>;
  /** From the receipt of an event to its receiver's 2xx in seconds, within `LATENCY_BOUNDS_s`. */
  latency_s: HistogramSnapshot;
  in_flight: number;
  /** Subscriptions that could start an attempt, were there a slot. */
  waiting: number;
  subscriptions: number;
}

/** Counts attempts. */
export class AttemptCounters {
  readonly #attempts = Object.fromEntries(
    ['delivered', ...ATTEMPT_ERRORS].map((name) => [name, 0]),
  ) as DeliveryStats['attempts'];
  readonly #delivered_s = new Histogram(ATTEMPT_BOUNDS_s);
  readonly #failed_s = new Histogram(ATTEMPT_BOUNDS_s);
  readonly #latency_s = new Histogram(LATENCY_BOUNDS_s);

  /** `since_ms`: how long ago the event was received. Clocks of two machines may make it negative. */
  count(result: AttemptResult, since_ms: number): void {
    this.#attempts[result.error ?? 'delivered']++;
    const seconds = result.duration_ms / 1000;
    if (result.outcome === 'failed') this.#failed_s.observe(seconds);
    else {
      this.#delivered_s.observe(seconds);
      this.#latency_s.observe(Math.max(0, since_ms / 1000));
    }
  }

  counted(): Pick<DeliveryStats, 'attempts' | 'attempt_s' | 'latency_s'> {
    return {
      attempts: { ...this.#attempts },
      attempt_s: { delivered: this.#delivered_s.spread(), failed: this.#failed_s.spread() },
      latency_s: this.#latency_s.spread(),
    };
  }
}
