import { Histogram, type HistogramSnapshot } from '../../histogram.js';
import { ATTEMPT_ERRORS, type AttemptError } from './attempt-error.js';
import type { AttemptResult } from './sender.js';

/** Bounds of the histograms below, in seconds. */
export const HISTOGRAM_BOUNDS = {
  /** Up to the deadline of an attempt (`attempt_ms`). */
  attempt_s: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15],
  /** Five attempts span 156 s and their own time; a replay, or a long outage of the receiver, hours or days. */
  latency_s: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 180, 600, 3_600, 21_600, 86_400],
} as const satisfies Record<string, readonly number[]>;

/** What the deliveries of one thread did since it started, and what they hold now; plain data, for metrics. */
export interface DeliveryStats {
  /** Attempts that ended, by outcome: `delivered`, or the class of the error. */
  attempts: Record<'delivered' | AttemptError, number>;
  /** Their durations in seconds. */
  attempt_s: Record<AttemptResult['outcome'], HistogramSnapshot>;
  /** From the receipt of an event to its receiver's 2xx, in seconds. */
  latency_s: HistogramSnapshot;
  /** Slots that are taken. */
  in_flight: number;
  /** Subscriptions that could start an attempt if there were a slot. */
  waiting: number;
  /** Subscription actors in memory. */
  subscriptions: number;
  /** Destinations that do not answer: their deliveries wait. */
  paused_destinations: number;
}

/** Counts attempts. */
export class AttemptCounters {
  readonly #attempts = Object.fromEntries(
    ['delivered', ...ATTEMPT_ERRORS].map((name) => [name, 0]),
  ) as DeliveryStats['attempts'];
  readonly #delivered_s = new Histogram(HISTOGRAM_BOUNDS.attempt_s);
  readonly #failed_s = new Histogram(HISTOGRAM_BOUNDS.attempt_s);
  readonly #latency_s = new Histogram(HISTOGRAM_BOUNDS.latency_s);

  /** `since_ms`: how long ago the event was received. A database whose time was set back may make it negative. */
  count(result: AttemptResult, since_ms: number): void {
    const duration_s = result.duration_ms / 1000;
    switch (result.outcome) {
      case 'failed':
        this.#attempts[result.error]++;
        this.#failed_s.observe(duration_s);
        break;
      case 'delivered':
        this.#attempts.delivered++;
        this.#delivered_s.observe(duration_s);
        this.#latency_s.observe(Math.max(0, since_ms / 1000));
        break;
      default:
        result satisfies never;
    }
  }

  counted(): Pick<DeliveryStats, 'attempts' | 'attempt_s' | 'latency_s'> {
    return {
      attempts: { ...this.#attempts },
      attempt_s: { delivered: this.#delivered_s.snapshot(), failed: this.#failed_s.snapshot() },
      latency_s: this.#latency_s.snapshot(),
    };
  }
}
