import type { StartedDelivery } from '../../storage/deliveries/deliveries.js';
import type { OwnedSubscription } from '../../storage/deliveries/delivery-queue.js';
import { LIMITS } from './limits.js';

/** Where the claims of a subscription stand. */
export interface ClaimMark {
  /** What was due earlier was claimed before, or others had it locked; in microseconds since 1970. */
  from_us: number;
  /** Until then, on the monotonic clock, it is claimed from there on. */
  until_ms: number;
}

/**
 * Where the claims of subscriptions with a backlog stand, so that each begins where the one before ended, whatever the backlog was: the index
 * keeps what was started until a vacuum.
 *
 * I1 What is due before a mark all the same, because its transaction took long or it was locked, is found: no mark holds for longer than `LIMITS.claim_mark_ms`,
 * and a claim from a mark that finds less than it asked for is made again from the beginning (`DeliveryBatches`).
 */
export class ClaimMarks {
  readonly #marks = new WeakMap<OwnedSubscription, ClaimMark>();

  of(subscription: OwnedSubscription): ClaimMark | undefined {
    const mark = this.#marks.get(subscription);
    return mark && performance.now() < mark.until_ms ? mark : undefined; // I1
  }

  /** A claim from `mark` on, or from the beginning, brought these. When they are all that it asked for, there may be more. */
  claimed(
    subscription: OwnedSubscription,
    deliveries: (StartedDelivery | undefined)[],
    mark: ClaimMark | undefined,
  ): void {
    const due_us = deliveries.flatMap((one) => one?.due_us ?? []);
    if (due_us.length < deliveries.length) {
      this.#marks.delete(subscription);
      return;
    }
    const until_ms = mark?.until_ms ?? performance.now() + LIMITS.claim_mark_ms;
    this.#marks.set(subscription, { from_us: Math.min(...due_us) - 1, until_ms }); // rounded to the microsecond
  }
}
