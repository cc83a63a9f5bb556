import { setTimeout as wait } from 'node:timers/promises';
import { v7 as uuidv7 } from 'uuid';
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
import {
  BATCH_deliveries,
  BATCH_statements,
  RETRY_WAITS_s,
  STATEMENT_RETRY_max_ms,
  STATEMENT_RETRY_min_ms,
} from './limits.js';

export interface LedgerOptions {
  db: Database;
  /** Its commits need not be on the disk when they answer. Starts go there. */
  relaxed: Database;
  now: () => Date;
  log: Logger;
  /** Items of each kind that are asked for at most at a time; none of them is ever refused here. */
  bound: number;
}

/**
 * What the dispatcher writes, in batches. A statement that fails is tried again until it succeeds or the ledger closes: a
 * delivery whose end is not written would stay `sending` for as long as its partition has an owner. That is safe, because
 * every write is fenced and says nothing new the second time, or is undone first.
 */
export class DeliveryBatches {
  readonly #starts: Batcher<OwnedSubscription, StartedDelivery | undefined>;
  readonly #finishes: Batcher<FinishedAttempt, FinishedDelivery | undefined>;
  readonly #rests: Batcher<OwnedSubscription, ParkedSubscription | undefined>;
  readonly #closing = new AbortController();

  constructor(private readonly options: LedgerOptions) {
    const batching = { maxItems: BATCH_deliveries, linger_ms: 0, concurrency: BATCH_statements, bound: options.bound };
    this.#starts = new Batcher({ ...batching, flush: (subscriptions) => this.#start(subscriptions) });
    this.#finishes = new Batcher({ ...batching, flush: (attempts) => this.#finish(attempts) });
    this.#rests = new Batcher({ ...batching, bound: Number.POSITIVE_INFINITY, flush: (asked) => this.#rest(asked) });
  }

  /** Starts the delivery of the subscription that has been due the longest; undefined when none is. */
  start(subscription: OwnedSubscription): Promise<StartedDelivery | undefined> {
    return this.#starts.add(subscription);
  }

  /** Ends an attempt. Undefined when the delivery was no longer held: nothing of it was written. */
  finish(attempt: FinishedAttempt): Promise<FinishedDelivery | undefined> {
    return this.#finishes.add(attempt);
  }

  /** Nothing of the subscription is due; see `parkSubscriptions`. Undefined when it has no job, or the epoch is stale. */
  rest(subscription: OwnedSubscription): Promise<ParkedSubscription | undefined> {
    return this.#rests.add(subscription);
  }

  /** From now on a statement that fails is given up: what it would have written is left to the next recovery. */
  close(): void {
    this.#closing.abort();
  }

  async #start(subscriptions: OwnedSubscription[]): Promise<(StartedDelivery | undefined)[]> {
    const { db, relaxed, now } = this.options;
    const asked = Map.groupBy(subscriptions, ({ id, epoch }) => `${id} ${epoch}`);
    const claims = [...asked.values()].map((same) => ({
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
    const { db, now } = this.options;
    const finished = await this.#persist('finish', () => finishDeliveries(db, attempts, now(), RETRY_WAITS_s));
    const byId = new Map(finished.map((delivery) => [delivery.id, delivery]));
    return attempts.map(({ id }) => byId.get(id));
  }

  async #rest(subscriptions: OwnedSubscription[]): Promise<(ParkedSubscription | undefined)[]> {
    const rests = await this.#persist('rest', () => parkSubscriptions(this.options.db, subscriptions));
    const byId = new Map(rests.map((rest) => [rest.id, rest]));
    return subscriptions.map(({ id }) => byId.get(id));
  }

  async #persist<T>(what: string, write: () => Promise<T>): Promise<T> {
    for (let wait_ms = STATEMENT_RETRY_min_ms; ; wait_ms = Math.min(wait_ms * 2, STATEMENT_RETRY_max_ms)) {
      try {
        return await write();
      } catch (error) {
        if (this.#closing.signal.aborted) throw error;
        this.options.log.error({ err: error, statement: what }, 'a delivery statement failed, trying again');
        await wait(wait_ms, undefined, { signal: this.#closing.signal });
      }
    }
  }
}
