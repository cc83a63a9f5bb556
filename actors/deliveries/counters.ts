import { ATTEMPT_ERRORS, type AttemptError } from './attempt-error.js';
import type { AttemptResult } from './sender.js';

/** What the delivery side of one thread did and holds now; plain data, for metrics. */
export interface DeliveryStats {
  /** Attempts that ended, by outcome: `delivered`, or the class of the error. */
  attempts: Record<'delivered' | AttemptError, number>;
  /** Durations of all of them, in milliseconds. */
  duration_ms_sum: number;
  duration_count: number;
  /** Deliveries put back because there was no room for them. */
  put_back: number;
  in_flight: number;
  waiting: number;
  subscriptions: number;
}

/** Counts attempts. */
export class AttemptCounters {
  readonly attempts = Object.fromEntries(
    ['delivered', ...ATTEMPT_ERRORS].map((name) => [name, 0]),
  ) as DeliveryStats['attempts'];
  duration_ms_sum = 0;
  duration_count = 0;
  put_back = 0;

  count(result: AttemptResult): void {
    this.attempts[result.error ?? 'delivered']++;
    this.duration_ms_sum += result.duration_ms;
    this.duration_count++;
  }
}
