import { setTimeout as wait } from 'node:timers/promises';
import { Batcher } from '../../storage/batcher.js';
import type { Database } from '../../storage/database.js';
import {
  type BacklogSpread,
  deliverySubscriptions,
  type FinishedAttempt,
  type FinishedDelivery,
  finishDeliveries,
  type HeldDelivery,
  putBackDeliveries,
  putOffBacklog,
  type StartOutcome,
  startDeliveries,
  takeBacklog,
} from '../../storage/deliveries.js';
import { finishJobs } from '../../storage/jobs.js';
import type { Logger } from '../../storage/log.js';
import {
  BATCH_deliveries,
  BATCH_statements,
  RETRY_WAITS_s,
  STATEMENT_RETRY_max_ms,
  STATEMENT_RETRY_min_ms,
} from './limits.js';

/** A fetched delivery on its way back into its queue. */
export type PutBack = Omit<HeldDelivery, 'attemptId'> & { startAfter: Date };

/**
 * What the dispatcher writes, in batches. A statement that fails is tried again until it succeeds or the ledger closes: a
 * delivery whose end is not written would stay `sending` for as long as its partition has an owner. That is safe, because
 * every write is fenced and says nothing new the second time.
 */
export class AttemptLedger {
  readonly #starts: Batcher<HeldDelivery, StartOutcome>;
  readonly #finishes: Batcher<FinishedAttempt, FinishedDelivery | undefined>;
  readonly #closing = new AbortController();

  /** `bound`: attempts that are started or being finished at most; none of them is ever refused here. */
  constructor(
    private readonly db: Database,
    private readonly now: () => Date,
    private readonly log: Logger,
    bound: number,
  ) {
    const batching = { maxItems: BATCH_deliveries, linger_ms: 1, concurrency: BATCH_statements, bound };
    this.#starts = new Batcher({ ...batching, flush: (held) => this.#start(held) });
    this.#finishes = new Batcher({ ...batching, flush: (attempts) => this.#finish(attempts) });
  }

  /** pending → sending; see `StartOutcome` for what else may come of it. */
  start(held: HeldDelivery): Promise<StartOutcome> {
    return this.#starts.add(held);
  }

  /** Ends an attempt. Undefined when the delivery was no longer held: nothing of it was written. */
  finish(attempt: FinishedAttempt): Promise<FinishedDelivery | undefined> {
    return this.#finishes.add(attempt);
  }

  /** The subscription of each delivery; a delivery that is gone has none, and its job is removed. */
  async route(partition: number, ids: string[]): Promise<Map<string, string>> {
    const rows = await this.#persist('route', () => deliverySubscriptions(this.db, ids));
    const routes = new Map(rows.map((row) => [row.id, row.subscription_id]));
    const gone = ids.filter((id) => !routes.has(id));
    if (gone.length > 0) await this.#removeJobs(gone.map((id) => ({ id, partition })));
    return routes;
  }

  /** Puts fetched deliveries back into their queues. */
  async putBack(deliveries: PutBack[]): Promise<void> {
    await this.#persist('put back', () => this.db.transaction((tx) => putBackDeliveries(tx, deliveries)));
  }

  /** Puts off what is due of a subscription from `from` on; gives when the first is due again, null when there is none. */
  async putOff(
    subscription: { id: string; partition: number; epoch: number },
    from: Date,
    spread: BacklogSpread,
  ): Promise<Date | null> {
    return (await this.#persist('put off', () => putOffBacklog(this.db, subscription, from, spread))).first;
  }

  /** Takes up to `limit` deliveries of a subscription's backlog; see `takeBacklog`. */
  pull(
    subscription: { id: string; partition: number; epoch: number },
    afterEvent: string,
    limit: number,
  ): Promise<{ id: string; event_id: string }[]> {
    return this.#persist('pull', () => takeBacklog(this.db, subscription, afterEvent, this.now(), limit));
  }

  /** From now on a statement that fails is given up: what it would have written is left to the next recovery. */
  close(): void {
    this.#closing.abort();
  }

  async #start(held: HeldDelivery[]): Promise<StartOutcome[]> {
    const outcomes = await this.#persist('start', () => startDeliveries(this.db, held, this.now()));
    const byId = new Map(outcomes.map((outcome) => [outcome.id, outcome]));
    const settled = held.filter(({ id }) => byId.get(id)?.outcome === 'settled');
    if (settled.length > 0) await this.#removeJobs(settled);
    return held.map(({ id }) => byId.get(id) ?? { outcome: 'fenced', id });
  }

  async #finish(attempts: FinishedAttempt[]): Promise<(FinishedDelivery | undefined)[]> {
    const finished = await this.#persist('finish', () =>
      finishDeliveries(this.db, attempts, this.now(), RETRY_WAITS_s),
    );
    const byId = new Map(finished.map((delivery) => [delivery.id, delivery]));
    return attempts.map(({ id }) => byId.get(id));
  }

  async #removeJobs(deliveries: { id: string; partition: number }[]): Promise<void> {
    const jobs = deliveries.map(({ id, partition }) => ({ queue: 'delivery' as const, partition, id }));
    await this.#persist('remove jobs', () => finishJobs(this.db, jobs));
  }

  async #persist<T>(what: string, write: () => Promise<T>): Promise<T> {
    for (let wait_ms = STATEMENT_RETRY_min_ms; ; wait_ms = Math.min(wait_ms * 2, STATEMENT_RETRY_max_ms)) {
      try {
        return await write();
      } catch (error) {
        if (this.#closing.signal.aborted) throw error;
        this.log.error({ err: error, statement: what }, 'a delivery statement failed, trying again');
        await wait(wait_ms, undefined, { signal: this.#closing.signal });
      }
    }
  }
}
