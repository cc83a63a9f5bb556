import { setTimeout as wait } from 'node:timers/promises';
import type { DeliveryBatches } from './delivery-batches.js';
import { LIMITS } from './limits.js';
import type { SubscriptionActor } from './schedule/subscription-actor.js';

export interface JobParkingOptions {
  batches: DeliveryBatches;
  /** Called with how long until the next delivery of the partition's subscription is due, in milliseconds. */
  wakeIn: (partition: number, due_in_ms: number) => void;
  /** Called when a job is parked and stays so. */
  onParked: (actor: SubscriptionActor) => void;
}

/**
 * Gives the jobs of subscriptions of which nothing is known to be due back to their queue: parked until the next retry, or deleted when
 * no delivery is left. A job that stayed with this thread would be fetched by no thread.
 */
export class JobParking {
  readonly #options: JobParkingOptions;

  constructor(options: JobParkingOptions) {
    this.#options = options;
  }

  /** Parks the subscription's job unless something of it is due, or it is being parked already: then once more after that. */
  park(actor: SubscriptionActor): void {
    if (actor.park()) void this.#park(actor);
  }

  async #park(actor: SubscriptionActor): Promise<void> {
    try {
      const parked = await this.#options.batches.park(actor);
      if (typeof parked?.due_in_ms === 'number') this.#options.wakeIn(actor.partition, parked.due_in_ms);
      if (parked?.examined === false) {
        await wait(LIMITS.park_retry_ms, undefined, { ref: false });
        actor.park();
      }
    } catch {
      // only while draining: the job is left to the next owner
    }
    if (actor.parked()) this.park(actor);
    else this.#options.onParked(actor);
  }
}
