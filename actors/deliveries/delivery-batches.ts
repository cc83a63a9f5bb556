import { setTimeout as wait } from 'node:timers/promises';
import {
  type Claim,
  type FinishedAttempt,
  type FinishedDelivery,
  finishDeliveries,
  heldStarts,
  type MadeStart,
  type StartedDelivery,
  startDeliveries,
  undoStarts,
} from '../../storage/deliveries/deliveries.js';
import {
  type OwnedSubscription,
  type ParkedSubscription,
  parkSubscriptions,
} from '../../storage/deliveries/delivery-queue.js';
import type { Logger } from '../../storage/log/log.js';
import { newId } from '../../storage/model/new-id.js';
import { Batcher } from '../../storage/postgres/batcher.js';
import type { Database } from '../../storage/postgres/database.js';
import { causedByOne, isRefused } from '../../storage/postgres/liveness.js';
import { Backoff } from '../../storage/process/backoff.js';
import type { LeaseCell } from '../lease.js';
import { type ClaimMark, ClaimMarks } from './claim-marks.js';
import { LIMITS } from './limits.js';
import { StartPermission } from './start-permission.js';

export interface DeliveryBatchesOptions {
  db: Database;
  /** Its commits need not be on the disk when they return. Starts go there. */
  relaxed: Database;
  /** Nothing is started of a partition without one. */
  lease: Pick<LeaseCell, 'permission'>;
  log: Logger;
  /** Starts, and ends of attempts, that the caller asks for at once at most. */
  bound: number;
}

/**
 * What the deliveries of a thread write, in batches. A statement that fails is tried again until it succeeds or the thread
 * drains: the whole batch where the database does not answer, item by item where one can have caused it. A delivery whose end is not
 * written would stay `sending` for as long as its partition has an owner. That is safe: every write is fenced and changes nothing the
 * second time, or is undone first.
 *
 * I1 the id of an attempt is in one start statement only, because the statement that takes a start back may itself come late;
 * I2 an attempt is in hand from before its start is asked for until its end is written, or it is known that none was made:
 *    a row that is `sending` with an attempt that is not in hand is nobody's;
 * I3 a start is given out only while its answer is fresh (`start-permission.ts`). Past that its row is asked again, and one that was
 *    stopped meanwhile, or whose lease ran out, is taken back.
 */
export class DeliveryBatches {
  readonly #options: DeliveryBatchesOptions;
  readonly #starts: Batcher<OwnedSubscription, StartedDelivery | undefined>;
  readonly #finishes: Batcher<FinishedAttempt, FinishedDelivery | undefined>;
  readonly #parks: Batcher<OwnedSubscription, ParkedSubscription | undefined>;
  readonly #closing = new AbortController();
  readonly #inHand = new Set<string>(); // I2
  readonly #marks = new ClaimMarks();

  constructor(options: DeliveryBatchesOptions) {
    this.#options = options;
    const { batch_items: maxItems, batch_statements: concurrency } = LIMITS;
    const batching = { maxItems, linger_ms: 0, concurrency, bound: options.bound };
    const divide = { tenant: ({ id }: { id: string }) => id, within_ms: LIMITS.division_ms };
    this.#starts = new Batcher<OwnedSubscription, StartedDelivery | undefined>({
      ...batching,
      divide,
      flush: (subscriptions) => this.#start(subscriptions),
    });
    this.#finishes = new Batcher<FinishedAttempt, FinishedDelivery | undefined>({
      ...batching,
      divide,
      flush: (attempts) => this.#finish(attempts),
    });
    // One a subscription at most: bounded by the subscriptions of the thread.
    const bound = Number.POSITIVE_INFINITY;
    this.#parks = new Batcher<OwnedSubscription, ParkedSubscription | undefined>({
      ...batching,
      ...{ bound, divide },
      flush: (subscriptions) => this.#park(subscriptions),
    });
  }

  /** The ids of the attempts in hand (I2). */
  get inHand(): ReadonlySet<string> {
    return this.#inHand;
  }

  /** Starts the delivery of the subscription that has been due the longest; undefined when none is. Follow with `finish` or `drop`. */
  start(subscription: OwnedSubscription): Promise<StartedDelivery | undefined> {
    return this.#persist('start', () => this.#starts.add(subscription), causedByOne);
  }

  /** Ends an attempt. Undefined when the delivery was no longer held: nothing of it was written. */
  async finish(attempt: FinishedAttempt): Promise<FinishedDelivery | undefined> {
    const { signal } = this.#closing;
    const backoff = new Backoff({ first_ms: LIMITS.locked_retry_ms, cap_ms: LIMITS.statement_retry_cap_ms });
    try {
      for (;;) {
        const finished = await this.#persist('finish', () => this.#finishes.add(attempt), causedByOne);
        if (finished?.status !== 'locked') return finished;
        await wait(backoff.next_ms(), undefined, { signal });
      }
    } finally {
      this.drop(attempt.attemptId);
    }
  }

  /** Nothing of a started attempt will be written: its partition is another owner's. */
  drop(attemptId: string): void {
    this.#inHand.delete(attemptId);
  }

  /** Takes a start back of which nothing was sent: its delivery is due again after a while, and the attempt does not count. */
  async putOff(started: MadeStart): Promise<void> {
    await this.#persist('put off', () => undoStarts(this.#options.db, [started], LIMITS.key_wait_ms));
    this.drop(started.attempt_id);
  }

  /** Nothing of the subscription is due: its job goes back. Undefined when it has no job, or the epoch is stale. */
  park(subscription: OwnedSubscription): Promise<ParkedSubscription | undefined> {
    return this.#persist('park', () => this.#parks.add(subscription), causedByOne);
  }

  /** From now on a statement that fails rejects: what it would have written is left to the next recovery. */
  close(): void {
    this.#closing.abort();
  }

  async #start(subscriptions: OwnedSubscription[]): Promise<(StartedDelivery | undefined)[]> {
    const marks = new Map(subscriptions.map((one) => [one, this.#marks.of(one)]));
    const started = await this.#claim(subscriptions, marks);
    // From a mark on nothing was left: what is due may stand before it.
    const missing = subscriptions.flatMap((one, i) => (!started[i] && marks.get(one) ? [i] : []));
    if (missing.length === 0) return started;
    const again = missing.map((i) => subscriptions[i] as OwnedSubscription);
    // A statement of its own: where it fails, what the first one started stays started, and parking finds what else is due.
    const found = await this.#claim(again, new Map()).catch((error) => {
      if (!causedByOne(error)) throw error;
      return [];
    });
    for (const [n, i] of missing.entries()) started[i] = found[n];
    return started;
  }

  /** A delivery for each time that a subscription is given, as far as they are due, each from its mark on. */
  async #claim(
    subscriptions: OwnedSubscription[],
    marks: ReadonlyMap<OwnedSubscription, ClaimMark | undefined>,
  ): Promise<(StartedDelivery | undefined)[]> {
    const { db, relaxed } = this.#options;
    let unsure: MadeStart[] = [];
    const drop = () => {
      for (const { attempt_id } of unsure) this.drop(attempt_id);
      unsure = [];
    };
    try {
      const { permission, keys, started } = await this.#persist(
        'start',
        async () => {
          if (unsure.length > 0) await this.#persist('undo', () => undoStarts(db, unsure));
          drop();
          // Asked for each time: meanwhile the partition may have been taken again under its next epoch.
          const permission = this.#permission(subscriptions);
          const keys = subscriptions.map((one) => (permission.covers(one.partition) ? keyOf(one) : undefined));
          const claims = claimsOf(subscriptions, keys, marks);
          unsure = claims.flatMap(({ subscription: { id: subscription_id, epoch }, attemptIds }) =>
            attemptIds.map((attempt_id) => ({ subscription_id, epoch, attempt_id })),
          ); // I1
          for (const { attempt_id } of unsure) this.#inHand.add(attempt_id); // I2
          return { permission, keys, started: claims.length === 0 ? [] : await startDeliveries(relaxed, claims) };
        },
        ofTheDatabase,
      );
      const byKey = Map.groupBy(started, ({ subscription_id: id, epoch }) => keyOf({ id, epoch }));
      const made = new Set(started.map(({ attempt_id }) => attempt_id));
      unsure = unsure.filter(({ attempt_id }) => !made.has(attempt_id));
      const answers = keys.map((key) => (key === undefined ? undefined : byKey.get(key)?.shift()));
      for (const [one, answered] of Map.groupBy(answers, (_, i) => subscriptions[i] as OwnedSubscription)) {
        this.#marks.claimed(one, answered, marks.get(one));
      }
      return permission.isFresh ? answers : await this.#heldOf(subscriptions, answers); // I3
    } finally {
      drop();
    }
  }

  /** The starts of these answers that may still be sent; the others are taken back. */
  async #heldOf(
    subscriptions: OwnedSubscription[],
    answers: (StartedDelivery | undefined)[],
  ): Promise<(StartedDelivery | undefined)[]> {
    const { db } = this.#options;
    for (let left = answers; ; ) {
      const permission = this.#permission(subscriptions);
      const asked = left.flatMap((one, i) =>
        one && permission.covers((subscriptions[i] as OwnedSubscription).partition) ? one : [],
      );
      const closed = this.#closing.signal.aborted;
      const held = new Set(
        asked.length === 0 || closed ? [] : await this.#persist('look', () => heldStarts(db, asked)),
      );
      const over = left.flatMap((one) => (one && !held.has(one.attempt_id) ? one : []));
      if (over.length > 0) await this.#persist('take back', () => undoStarts(db, over));
      for (const { attempt_id } of over) this.drop(attempt_id);
      left = left.map((one) => (one && held.has(one.attempt_id) ? one : undefined));
      if (held.size === 0 || permission.isFresh) return left;
    }
  }

  #permission(subscriptions: OwnedSubscription[]): StartPermission {
    return new StartPermission(this.#options.lease, new Set(subscriptions.map(({ partition }) => partition)));
  }

  async #finish(attempts: FinishedAttempt[]): Promise<(FinishedDelivery | undefined)[]> {
    const write = () => finishDeliveries(this.#options.db, attempts, LIMITS.retry_waits_s);
    const finished = await this.#persist('finish', write, ofTheDatabase);
    const byId = new Map(finished.map((delivery) => [delivery.id, delivery]));
    return attempts.map(({ id }) => byId.get(id));
  }

  async #park(subscriptions: OwnedSubscription[]): Promise<(ParkedSubscription | undefined)[]> {
    const parked = await this.#persist('park', () => parkSubscriptions(this.#options.db, subscriptions), ofTheDatabase);
    const byId = new Map(parked.map((one) => [one.id, one]));
    return subscriptions.map(({ id }) => byId.get(id));
  }

  /** Tries again after each error, or those that `again` says. */
  async #persist<T>(statement: string, write: () => Promise<T>, again = (_error: unknown) => true): Promise<T> {
    const { signal } = this.#closing;
    const backoff = new Backoff({ first_ms: LIMITS.statement_retry_ms, cap_ms: LIMITS.statement_retry_cap_ms });
    for (;;) {
      try {
        return await write();
      } catch (error) {
        if (signal.aborted || !again(error)) throw error;
        this.#options.log.error({ err: error, statement }, 'deliveries: a statement failed, trying again');
        await wait(backoff.next_ms(), undefined, { signal }).catch(() => Promise.reject(error));
      }
    }
  }
}

/** Nobody's own; or it is not known that the statement had no effect. */
const ofTheDatabase = (error: unknown) => !isRefused(error) || !causedByOne(error);

const keyOf = ({ id, epoch }: Pick<OwnedSubscription, 'id' | 'epoch'>): string => `${id} ${epoch}`;

/** One claim a subscription that has a key, with a new attempt for each time it is asked for. */
function claimsOf(
  subscriptions: OwnedSubscription[],
  keys: (string | undefined)[],
  marks: ReadonlyMap<OwnedSubscription, ClaimMark | undefined>,
): Claim[] {
  const claims = new Map<string, Claim>();
  for (const [i, one] of subscriptions.entries()) {
    const { id, partition, epoch } = one;
    const key = keys[i];
    if (key === undefined) continue;
    const from_us = marks.get(one)?.from_us ?? null;
    const claim = claims.get(key) ?? { subscription: { id, partition, epoch }, attemptIds: [], from_us };
    claim.attemptIds.push(newId());
    claims.set(key, claim);
  }
  return [...claims.values()];
}
