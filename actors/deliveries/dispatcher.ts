import { setTimeout as wait } from 'node:timers/promises';
import type { StartedDelivery } from '../../storage/deliveries/deliveries.js';
import type { Database } from '../../storage/postgres/database.js';
import { type AttemptOptions, CallbackAttempts } from './attempt.js';
import type { DeliveryStats } from './counters.js';
import { DeliveryBatches } from './delivery-batches.js';
import { IDLE_SLOW_subscriptions, REST_again_ms, SLOT_finishing, THREAD_subscriptions } from './limits.js';
import type { AttemptResult } from './sender.js';
import { SlotScheduler } from './slot-scheduler.js';
import { SubscriptionActor } from './subscription-actor.js';

export interface DispatcherOptions extends AttemptOptions {
  db: Database;
  /** The same database, with commits that need not be on the disk when they answer. */
  relaxed: Database;
  /** Attempts in flight in this thread at most (`DELIVERY_CONCURRENCY`). */
  concurrency: number;
  /** Told when jobs of the partition's delivery queue are due, or when there is room for them again. */
  wakeAt: (partition: number, at: Date) => void;
}

export interface Dispatcher {
  /** How many more subscriptions it takes now. After a 0, `wakeAt` tells the partition when that changes. */
  room(partition: number): number;
  /** Takes fetched jobs: these subscriptions have something due. */
  take(partition: number, epoch: number, subscriptions: string[]): void;
  /** The partition is given up: starts nothing more of it, resolves when its last attempt is over and written. `drop` ends it. */
  settle(partition: number): Promise<void>;
  /** The partition is lost: nothing more of it starts, what is being sent runs out and writes nothing. */
  drop(partition: number): void;
  /** Starts nothing more, resolves when the last attempt is over and written. Then it is done. */
  drain(): Promise<void>;
  stats(): DeliveryStats;
}

/**
 * Sends the deliveries of the partitions that one thread owns. It holds subscriptions, not deliveries; one of these is here
 * only while an attempt of it is:
 *
 *     slot taken ─▶ starting ─▶ sending ─▶ finishing ─▶ forgotten
 *                       └─▶ forgotten   nothing is due, or the epoch is stale
 *
 * Rows and jobs are the truth: whatever is forgotten, the next owner's recovery finds. Invariants:
 * I1 a subscription has one actor, and a delivery one attempt at a time: what is sending is claimed by nobody;
 * I2 an attempt is sent only after its start was written under a valid epoch, and ends with one finish;
 * I3 attempts in flight never exceed `concurrency`, nor ends being written `SLOT_finishing` times that. A slot is free as soon
 *    as its receiver has answered, not when that is written;
 * I4 a subscription that nothing is known to be due of is rested, after every look and every end that could be the last: until then its
 *    job is this thread's.
 */
export function createDispatcher(options: DispatcherOptions): Dispatcher {
  return new ThreadDispatcher(options);
}

class ThreadDispatcher implements Dispatcher {
  readonly #actors = new Map<string, SubscriptionActor>();
  /** Those of partitions given up or lost, until their attempts are over. */
  readonly #leaving = new Set<SubscriptionActor>();
  readonly #turns: SlotScheduler;
  readonly #ledger: DeliveryBatches;
  readonly #attempts: CallbackAttempts;
  /** Partitions that were told there is no room. */
  readonly #refused = new Set<number>();
  /** Subscriptions being rested: true when they are to be again. */
  readonly #resting = new Map<SubscriptionActor, boolean>();
  /** Who waits for the last attempt of a partition, or of all. */
  readonly #quiet: { of: (actor: SubscriptionActor) => boolean; resolve: () => void }[] = [];
  #finishing = 0;
  #draining: Promise<void> | undefined;

  constructor(private readonly options: DispatcherOptions) {
    const { db, relaxed, clock, log, concurrency } = options;
    this.#turns = new SlotScheduler(concurrency);
    this.#ledger = new DeliveryBatches({
      db,
      relaxed,
      now: () => clock.now(),
      log,
      bound: concurrency * (SLOT_finishing + 1),
    });
    this.#attempts = new CallbackAttempts(options);
  }

  room(partition: number): number {
    const room = this.#roomNow();
    if (room === 0) this.#refused.add(partition);
    return room;
  }

  take(partition: number, epoch: number, subscriptions: string[]): void {
    for (const id of subscriptions) {
      let actor = this.#actors.get(id);
      if (actor === undefined || actor.epoch < epoch) {
        if (actor) this.#leave(actor, true);
        actor = new SubscriptionActor(id, partition, epoch);
        this.#actors.set(id, actor);
      }
      actor.call();
      this.#turns.update(actor);
    }
    this.#pump();
  }

  settle(partition: number): Promise<void> {
    return this.#end((actor) => actor.partition === partition, false);
  }

  drop(partition: number): void {
    this.#refused.delete(partition);
    void this.#end((actor) => actor.partition === partition, true);
  }

  drain(): Promise<void> {
    this.#draining ??= (async () => {
      this.#ledger.close();
      await this.#end(() => true, false);
      await this.#attempts.destroy();
    })();
    return this.#draining;
  }

  stats(): DeliveryStats {
    return {
      ...this.#attempts.counters.counted(),
      in_flight: this.#turns.taken,
      waiting: this.#turns.waiting,
      subscriptions: this.#actors.size,
    };
  }

  /** Lets no actor of these start anything; resolves when none of them is busy. */
  #end(of: (actor: SubscriptionActor) => boolean, lost: boolean): Promise<void> {
    for (const actor of [...this.#actors.values(), ...this.#leaving]) if (of(actor)) this.#leave(actor, lost);
    return new Promise((resolve) => {
      this.#quiet.push({ of, resolve });
      this.#tellQuiet();
    });
  }

  #leave(actor: SubscriptionActor, lost: boolean): void {
    actor.close(lost);
    this.#turns.update(actor);
    if (this.#actors.get(actor.id) === actor) this.#actors.delete(actor.id);
    if (actor.busy) this.#leaving.add(actor);
  }

  #tellQuiet(): void {
    for (const waiter of [...this.#quiet]) {
      if ([...this.#leaving].some(waiter.of)) continue;
      this.#quiet.splice(this.#quiet.indexOf(waiter), 1);
      waiter.resolve();
    }
  }

  /** Starts what may start, then tells of room that came free. */
  #pump(): void {
    while (this.#draining === undefined && this.#finishing < this.options.concurrency * SLOT_finishing) {
      const turn = this.#turns.begin();
      if (!turn) break;
      void this.#runAttempt(turn.actor, turn.end);
    }
    if (this.#refused.size === 0 || this.#roomNow() === 0) return;
    const now = this.options.clock.now();
    for (const partition of this.#refused) this.options.wakeAt(partition, now);
    this.#refused.clear();
  }

  async #runAttempt(actor: SubscriptionActor, endTurn: () => void): Promise<void> {
    const calls = actor.begin();
    this.#turns.update(actor);
    let started: StartedDelivery | undefined;
    let result: AttemptResult | undefined;
    try {
      started = await this.#ledger.start(actor);
      if (!started) actor.exhausted(calls);
      else if (!actor.lost) result = await this.#attempts.make(started);
    } catch {
      // Only while draining: what was not started is left to the next owner.
    }
    const written = actor.write();
    endTurn();
    actor.ended(result);
    this.#turns.update(actor);
    this.#pump();
    if (started && result) await this.#finish(actor, started, result);
    written();
    this.#rest(actor);
    this.#pump();
  }

  /** Writes the end of an attempt, while its slot goes to the next one. */
  async #finish(actor: SubscriptionActor, started: StartedDelivery, result: AttemptResult): Promise<void> {
    this.#finishing++;
    try {
      const { id, epoch, attempt_id: attemptId } = started;
      const { outcome, status_code: statusCode, error } = result;
      const finished = await this.#ledger.finish({ id, epoch, attemptId, outcome, statusCode, error });
      if (finished?.status === 'failed') this.#attempts.gaveUp(started, result);
    } catch (error) {
      this.options.log.error(
        { err: error, delivery_id: started.id, subscription_id: actor.id },
        'the end of an attempt was not written',
      );
    } finally {
      this.#finishing--;
    }
  }

  /** Gives the job of a subscription back when nothing of it is due. */
  #rest(actor: SubscriptionActor): void {
    if (actor.closed) {
      if (!actor.busy) this.#leaving.delete(actor);
      this.#tellQuiet();
      return;
    }
    if (actor.due) return;
    const again = this.#resting.has(actor);
    this.#resting.set(actor, again);
    if (again) return;
    this.#ledger
      .rest(actor)
      .then(async (rest) => {
        if (rest?.due) this.options.wakeAt(actor.partition, rest.due);
        if (rest?.examined !== false) return;
        await wait(REST_again_ms, undefined, { ref: false });
        this.#resting.set(actor, true);
      })
      // Only while draining: its job is left to the next owner.
      .catch(() => undefined)
      .finally(() => {
        const asked = this.#resting.get(actor);
        this.#resting.delete(actor);
        if (asked) this.#rest(actor);
        else this.#passivate(actor);
        this.#pump();
      });
  }

  #passivate(actor: SubscriptionActor): void {
    if (actor.due || actor.busy || this.#actors.get(actor.id) !== actor) return;
    // A slow one is remembered: forgotten, it would be taken for fast at its next delivery.
    if (!actor.slow || this.#actors.size > IDLE_SLOW_subscriptions) this.#actors.delete(actor.id);
  }

  #roomNow(): number {
    return this.#draining === undefined ? Math.max(0, THREAD_subscriptions - this.#actors.size) : 0;
  }
}
