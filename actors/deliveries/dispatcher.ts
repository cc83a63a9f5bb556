import { v7 as uuidv7 } from 'uuid';
import type { Database } from '../../storage/database.js';
import type { HeldDelivery, StartedDelivery } from '../../storage/deliveries.js';
import { type AttemptOptions, CallbackAttempts } from './attempt.js';
import { AttemptLedger } from './attempt-ledger.js';
import type { DeliveryStats } from './counters.js';
import { PULL_least, SLOT_finishing, THREAD_routing, THREAD_subscriptions, THREAD_waiting } from './limits.js';
import type { AttemptResult } from './sender.js';
import { type FetchedDelivery, SubscriptionActor } from './subscription-actor.js';
import { Turns } from './turns.js';

export interface DispatcherOptions extends AttemptOptions {
  db: Database;
  /** Attempts in flight in this thread at most (`DELIVERY_CONCURRENCY`). */
  concurrency: number;
  /** Told when jobs of the partition's delivery queue are due, or when there is room for them again. */
  wakeAt: (partition: number, at: Date) => void;
}

export interface Dispatcher {
  /** How many more deliveries of the partition it takes now. After a 0, `wakeAt` tells when that changes. */
  room(partition: number): number;
  /** Takes fetched jobs. A delivery it holds already is left as it is. */
  take(partition: number, epoch: number, ids: string[]): void;
  /**
   * The partition is given up: starts nothing more of it, forgets what waits (its jobs are the next owner's), resolves when its
   * last attempt is over and written. `drop` ends it.
   */
  settle(partition: number): Promise<void>;
  /** The partition is lost: what waits is forgotten, what is being sent runs out and writes nothing. */
  drop(partition: number): void;
  /** Starts nothing more, puts back what waits, resolves when the last attempt is over and written. Then it is done. */
  drain(): Promise<void>;
  stats(): DeliveryStats;
  /** Up to `limit` of the deliveries it holds, those it has held the longest. */
  heldLongest(limit: number): { id: string; partition: number }[];
}

/** A delivery on its way back into its queue, to be fetched again from `at` on. */
interface Leaving {
  delivery: FetchedDelivery;
  /** Its subscription, which takes it up again from its backlog as soon as there is room. */
  actor: SubscriptionActor;
  at: Date;
}

/**
 * Sends the deliveries of the partitions that one thread owns. A delivery's way through here:
 *
 *     taken ─▶ routed ─▶ waiting ─▶ starting ─▶ sending ─▶ finishing ─▶ forgotten
 *                │          │           │
 *                │          │           └─▶ forgotten   no longer pending, or the epoch is stale
 *                └──────────┴─▶ put back                no room with its subscription, or draining
 *
 * Anything but sending and finishing is forgotten when the partition is dropped: rows and jobs are the truth, and the next
 * owner finds them. Owns the deliveries from `take` on. Invariants:
 * I1 a delivery is held once, so it has one attempt at a time;
 * I2 an attempt is sent only after its start was written under a valid epoch, and ends with one finish;
 * I3 attempts in flight never exceed `concurrency`, nor ends being written `SLOT_finishing` times that; what waits is bounded
 *    by subscription and by `room`. A slot is free as soon as its receiver has answered, not when that is written.
 */
export function createDispatcher(options: DispatcherOptions): Dispatcher {
  return new ThreadDispatcher(options);
}

class ThreadDispatcher implements Dispatcher {
  readonly #held = new Map<string, FetchedDelivery>();
  readonly #actors = new Map<string, SubscriptionActor>();
  readonly #turns: Turns;
  readonly #ledger: AttemptLedger;
  readonly #attempts: CallbackAttempts;
  /** Partitions that were told there is no room. */
  readonly #refused = new Set<number>();
  /** Subscriptions whose due jobs are being put off, or whose backlog is being taken up. */
  readonly #moving = new Set<string>();
  /** Partitions being given up, and who waits for the end of their attempts. */
  readonly #settling = new Map<number, () => void>();
  #routing = 0;
  #puttingBack = 0;
  #finishing = 0;
  #draining = false;
  #emptied: (() => void) | undefined;
  #drained: Promise<void> | undefined;

  constructor(private readonly options: DispatcherOptions) {
    const { db, clock, log, concurrency } = options;
    this.#turns = new Turns(concurrency);
    this.#ledger = new AttemptLedger(db, () => clock.now(), log, concurrency * (SLOT_finishing + 1));
    this.#attempts = new CallbackAttempts(options);
  }

  room(partition: number): number {
    const room = this.#draining ? 0 : this.#roomNow();
    if (room === 0) this.#refused.add(partition);
    return room;
  }

  take(partition: number, epoch: number, ids: string[]): void {
    const fresh = this.#hold(partition, epoch, ids);
    if (fresh.length > 0) void this.#route(partition, fresh);
  }

  #hold(partition: number, epoch: number, ids: string[]): FetchedDelivery[] {
    const fresh: FetchedDelivery[] = [];
    for (const id of ids) {
      const known = this.#held.get(id);
      if (known && !known.dropped && !known.leaving && known.epoch >= epoch) continue;
      const delivery = { id, partition, epoch, dropped: false, leaving: false };
      this.#held.set(id, delivery);
      fresh.push(delivery);
    }
    return fresh;
  }

  settle(partition: number): Promise<void> {
    return new Promise((resolve) => {
      this.#settling.set(partition, resolve);
      this.#forgetWaiting(partition);
      this.#tellSettled(partition);
    });
  }

  drop(partition: number): void {
    this.#settling.delete(partition);
    for (const delivery of this.#held.values()) if (delivery.partition === partition) delivery.dropped = true;
    this.#forgetWaiting(partition);
  }

  #forgetWaiting(partition: number): void {
    this.#refused.delete(partition);
    for (const actor of this.#actors.values()) {
      for (const delivery of actor.remove((waiting) => waiting.partition === partition)) this.#forget(delivery);
      this.#turns.update(actor);
      this.#passivate(actor);
    }
  }

  #tellSettled(partition: number): void {
    const settled = this.#settling.get(partition);
    if (!settled) return;
    for (const delivery of this.#held.values()) if (delivery.partition === partition) return;
    settled();
  }

  drain(): Promise<void> {
    this.#drained ??= this.#drain();
    return this.#drained;
  }

  stats(): DeliveryStats {
    let waiting = 0;
    for (const actor of this.#actors.values()) waiting += actor.waiting;
    return {
      ...this.#attempts.counters.counted(),
      in_flight: this.#turns.taken,
      waiting,
      subscriptions: this.#actors.size,
    };
  }

  heldLongest(limit: number): { id: string; partition: number }[] {
    const longest: { id: string; partition: number }[] = [];
    for (const { id, partition } of this.#held.values()) if (longest.push({ id, partition }) === limit) break;
    return longest;
  }

  async #drain(): Promise<void> {
    this.#draining = true;
    this.#ledger.close();
    const now = this.options.clock.now();
    for (const actor of this.#actors.values()) {
      this.#putBack(actor.remove(() => true).map((delivery) => ({ delivery, actor, at: now })));
      this.#turns.update(actor);
    }
    if (this.#held.size > 0) {
      await new Promise<void>((resolve) => {
        this.#emptied = resolve;
      });
    }
    await this.#attempts.destroy();
  }

  async #route(partition: number, deliveries: FetchedDelivery[]): Promise<void> {
    this.#routing += deliveries.length;
    let routes: Map<string, string>;
    try {
      routes = await this.#ledger.route(
        partition,
        deliveries.map(({ id }) => id),
      );
    } catch {
      // Only while draining: the jobs are left to the next owner.
      routes = new Map();
    }
    this.#routing -= deliveries.length;
    this.#place(partition, deliveries, ({ id }) => routes.get(id));
  }

  /** Lets each wait with its subscription, or go back when there is no room; those without a subscription are gone. */
  #place(partition: number, deliveries: FetchedDelivery[], route: (one: FetchedDelivery) => string | undefined): void {
    const now = this.options.clock.now();
    const back: Leaving[] = [];
    for (const delivery of deliveries) {
      const subscription = route(delivery);
      const unwanted = delivery.dropped || this.#settling.has(partition);
      if (subscription === undefined || unwanted) this.#forget(delivery);
      else {
        const actor = this.#actors.get(subscription) ?? new SubscriptionActor(subscription);
        this.#actors.set(subscription, actor);
        if (this.#draining) back.push({ delivery, actor, at: now });
        else if (!actor.offer(delivery)) {
          back.push({ delivery, actor, at: actor.putBackAt(now) });
          this.#putOff(actor, delivery, now);
        }
        this.#turns.update(actor);
      }
    }
    this.#putBack(back);
    this.#pump();
  }

  /** The subscription holds all it can: what else is due of it must not be fetched in the way of the others. */
  #putOff(actor: SubscriptionActor, delivery: FetchedDelivery, now: Date): void {
    actor.putOff(delivery);
    if (this.#moving.has(actor.id)) return;
    this.#moving.add(actor.id);
    const { partition, epoch } = delivery;
    this.#ledger
      .putOff({ id: actor.id, partition, epoch }, actor.roomAt(now), actor.backlogSpread())
      .then((first) => {
        if (first) this.options.wakeAt(partition, first);
      })
      // Only while draining.
      .catch(() => undefined)
      .finally(() => {
        this.#moving.delete(actor.id);
        this.#pull(actor);
      });
  }

  /** Takes up what was put off of a subscription whose receiver keeps up. */
  #pull(actor: SubscriptionActor): void {
    const { backlog } = actor;
    const limit = Math.min(actor.wanted, THREAD_waiting - this.#turns.waitingFast);
    // A few at a time would be a statement each; with nothing left to send, a few are better than none.
    const least = actor.waiting === 0 ? 1 : PULL_least;
    if (!backlog || limit < least || this.#draining || this.#moving.has(actor.id)) return;
    const { partition, epoch } = backlog;
    this.#moving.add(actor.id);
    this.#ledger
      .pull({ id: actor.id, partition, epoch }, backlog.after, limit)
      .then((taken) => {
        actor.lookedThrough(backlog, taken.length === limit ? taken.at(-1)?.event_id : undefined);
        const fresh = this.#hold(
          partition,
          epoch,
          taken.map(({ id }) => id),
        );
        this.#place(partition, fresh, () => actor.id);
      })
      // Only while draining: the jobs are left to the next owner.
      .catch(() => undefined)
      .finally(() => {
        this.#moving.delete(actor.id);
        this.#passivate(actor);
        this.#pull(actor);
      });
  }

  /** Starts what may start, then tells the host about room that came free. */
  #pump(): void {
    while (!this.#draining && this.#finishing < this.options.concurrency * SLOT_finishing) {
      const turn = this.#turns.begin();
      if (!turn) break;
      void this.#runAttempt(turn.actor, turn.actor.next(), turn.end);
      this.#turns.update(turn.actor);
    }
    if (this.#refused.size === 0 || this.#draining || this.#roomNow() === 0) return;
    const now = this.options.clock.now();
    const refused = [...this.#refused];
    this.#refused.clear();
    for (const partition of refused) this.options.wakeAt(partition, now);
  }

  async #runAttempt(actor: SubscriptionActor, delivery: FetchedDelivery, endTurn: () => void): Promise<void> {
    const held = { id: delivery.id, partition: delivery.partition, epoch: delivery.epoch, attemptId: uuidv7() };
    const startedAt = performance.now();
    let made: StartedDelivery | undefined;
    let result: AttemptResult | undefined;
    try {
      const started = delivery.dropped ? undefined : await this.#ledger.start(held);
      if (started?.outcome === 'started' && !delivery.dropped) {
        made = started;
        result = await this.#attempts.make(made);
      }
    } catch {
      // Only while draining: its job is left to the next owner.
    }
    endTurn();
    actor.ended(result, performance.now() - startedAt);
    this.#shed(actor);
    this.#turns.update(actor);
    if (made && result) await this.#finish(delivery, held, made, result);
    this.#forget(delivery);
    this.#passivate(actor);
    this.#pump();
  }

  /** Writes the end of an attempt, while its slot goes to the next one. */
  async #finish(
    delivery: FetchedDelivery,
    held: HeldDelivery,
    made: StartedDelivery,
    result: AttemptResult,
  ): Promise<void> {
    delivery.leaving = true;
    this.#finishing++;
    this.#pump();
    try {
      const { outcome, status_code: statusCode, error } = result;
      const finished = await this.#ledger.finish({ ...held, outcome, statusCode, error });
      if (finished?.status === 'failed') this.#attempts.gaveUp(made, result);
      if (finished?.nextAttemptAt) this.options.wakeAt(delivery.partition, finished.nextAttemptAt);
    } catch (error) {
      this.options.log.error({ err: error, delivery_id: delivery.id }, 'the end of an attempt was not written');
    } finally {
      this.#finishing--;
    }
  }

  /** Puts back what the subscription can no longer send in time, or takes up more of its backlog. */
  #shed(actor: SubscriptionActor): void {
    const now = this.options.clock.now();
    const shed = actor.shed();
    if (shed[0]) actor.putOff(shed[0]);
    this.#putBack(shed.map((delivery) => ({ delivery, actor, at: actor.putBackAt(now) })));
    this.#pull(actor);
  }

  #putBack(leaving: Leaving[]): void {
    if (leaving.length === 0) return;
    this.#attempts.counters.put_back += leaving.length;
    this.#puttingBack += leaving.length;
    for (const { delivery } of leaving) delivery.leaving = true;
    this.#ledger
      .putBack(leaving.map(({ delivery: { id, partition, epoch }, at }) => ({ id, partition, epoch, startAfter: at })))
      .then(() => {
        for (const { delivery, actor, at } of leaving) {
          this.options.wakeAt(delivery.partition, at);
          // Again: a look through the backlog that came before the commit did not see it.
          actor.putOff(delivery);
        }
      })
      // Only while draining: the jobs are left to the next owner.
      .catch(() => undefined)
      .finally(() => {
        this.#puttingBack -= leaving.length;
        for (const { delivery } of leaving) this.#forget(delivery);
        for (const actor of new Set(leaving.map((one) => one.actor))) this.#pull(actor);
        this.#pump();
      });
  }

  #forget(delivery: FetchedDelivery): void {
    if (this.#held.get(delivery.id) === delivery) this.#held.delete(delivery.id);
    this.#tellSettled(delivery.partition);
    if (this.#held.size === 0) this.#emptied?.();
  }

  #passivate(actor: SubscriptionActor): void {
    // A slow one is remembered: forgotten, it would be taken for fast at its next delivery.
    if (actor.resting && (!actor.remembered || this.#actors.size > THREAD_subscriptions)) {
      this.#actors.delete(actor.id);
    }
  }

  #roomNow(): number {
    return Math.max(
      0,
      Math.min(THREAD_routing - this.#routing - this.#puttingBack, THREAD_waiting - this.#turns.waitingFast),
    );
  }
}
