import { setTimeout as wait } from 'node:timers/promises';
import { v7 as uuidv7 } from 'uuid';
import { Backoff } from '../../storage/backoff.js';
import {
  type FinishedAttempt,
  type FinishedDelivery,
  finishDeliveries,
  type StartedDelivery,
  startDeliveries,
  undoStarts,
} from '../../storage/deliveries/deliveries.js';
import {
  type OwnedSubscription,
  type ParkedSubscription,
  parkSubscriptions,
} from '../../storage/deliveries/delivery-queue.js';
import type { Logger } from '../../storage/log.js';
import { Batcher } from '../../storage/postgres/batcher.js';
import type { Database } from '../../storage/postgres/database.js';
import { LIMITS } from './limits.js';

export interface DeliveryBatchesOptions {
  db: Database;
  /** Its commits need not be on the disk when they return. Starts go there. */
  relaxed: Database;
  now: () => Date;
  log: Logger;
  /** Starts, and ends of attempts, that the caller asks for at once at most. */
  bound: number;
}

/**
 * What the deliveries of a thread write, in batches. A statement that fails is tried again until it succeeds or the thread
 * drains: a delivery whose end is not written would stay `sending` for as long as its partition has an owner. That is safe:
 * every write is fenced and changes nothing the second time, or is undone first.
 */
export class DeliveryBatches {
  readonly #options: DeliveryBatchesOptions;
  readonly #starts: Batcher<OwnedSubscription, StartedDelivery | undefined>;
  readonly #finishes: Batcher<FinishedAttempt, FinishedDelivery | undefined>;
  readonly #parks: Batcher<OwnedSubscription, ParkedSubscription | undefined>;
  readonly #closing = new AbortController();

  constructor(options: DeliveryBatchesOptions) {
    this.#options = options;
    const { batch_items: maxItems, batch_statements: concurrency } = LIMITS;
    const batching = { maxItems, linger_ms: 0, concurrency, bound: options.bound };
    this.#starts = new Batcher({ ...batching, flush: (subscriptions) => this.#start(subscriptions) });
    this.#finishes = new Batcher({ ...batching, flush: (attempts) => this.#finish(attempts) });
    // One a subscription at most: bounded by the subscriptions of the thread.
    const bound = Number.POSITIVE_INFINITY;
    this.#parks = new Batcher({ ...batching, bound, flush: (subscriptions) => this.#park(subscriptions) });
  }

  /** Starts the delivery of the subscription that has been due the longest; undefined when none is. */
  start(subscription: OwnedSubscription): Promise<StartedDelivery | undefined> {
    return this.#starts.add(subscription);
  }

  /** Ends an attempt. Undefined when the delivery was no longer held: nothing of it was written. */
  finish(attempt: FinishedAttempt): Promise<FinishedDelivery | undefined> {
    return this.#finishes.add(attempt);
  }

  /** Nothing of the subscription is due: its job goes back. Undefined when it has no job, or the epoch is stale. */
  park(subscription: OwnedSubscription): Promise<ParkedSubscription | undefined> {
    return this.#parks.add(subscription);
  }

  /** From now on a statement that fails rejects: what it would have written is left to the next recovery. */
  close(): void {
    this.#closing.abort();
  }

  async #start(subscriptions: OwnedSubscription[]): Promise<(StartedDelivery | undefined)[]> {
    const { db, relaxed, now } = this.#options;
    const grouped = Map.groupBy(subscriptions, ({ id, epoch }) => `${id} ${epoch}`);
    const claims = [...grouped.values()].map((same) => ({
      subscription: same[0] as OwnedSubscription,
      attemptIds: same.map(() => uuidv7()),
    }));
    const attemptIds = claims.flatMap((claim) => claim.attemptIds);
    let unsure = false;
    const started = await this.#persist('start', async () => {
      if (unsure) await undoStarts(db, attemptIds, now());
      unsure = true;
      return startDeliveries(relaxed, claims, now());
    });
    const bySubscription = Map.groupBy(started, ({ subscription_id, epoch }) => `${subscription_id} ${epoch}`);
    return subscriptions.map(({ id, epoch }) => bySubscription.get(`${id} ${epoch}`)?.shift());
  }

  async #finish(attempts: FinishedAttempt[]): Promise<(FinishedDelivery | undefined)[]> {
    const { db, now } = this.#options;
    const write = () => finishDeliveries(db, attempts, now(), LIMITS.retry_waits_s);
    const finished = await this.#persist('finish', write);
    const byId = new Map(finished.map((delivery) => [delivery.id, delivery]));
    return attempts.map(({ id }) => byId.get(id));
  }

  async #park(subscriptions: OwnedSubscription[]): Promise<(ParkedSubscription | undefined)[]> {
    const parked = await this.#persist('park', () => parkSubscriptions(this.#options.db, subscriptions));
    const byId = new Map(parked.map((one) => [one.id, one]));
    return subscriptions.map(({ id }) => byId.get(id));
  }

  async #persist<T>(statement: string, write: () => Promise<T>): Promise<T> {
    const { signal } = this.#closing;
    const backoff = new Backoff({ first_ms: LIMITS.statement_retry_ms, cap_ms: LIMITS.statement_retry_cap_ms });
    for (;;) {
      try {
        return await write();
      } catch (error) {
        if (signal.aborted) throw error;
        this.#options.log.error({ err: error, statement }, 'a delivery statement failed, trying again');
        await wait(backoff.next_ms(), undefined, { signal });
      }
    }
  }
}
