import type { FetchedSubscription, FullShares } from '../../storage/deliveries/delivery-queue.js';
import type { Database } from '../../storage/postgres/database.js';
import { checkStep, type Steps } from '../../storage/process/steps.js';
import type { LeaseCell } from '../lease.js';
import { type AttemptOptions, CallbackAttempts } from './callback/callback-attempts.js';
import type { DeliveryStats } from './callback/counters.js';
import { type AttemptContext, DeliveryAttempt } from './delivery-attempt.js';
import { DeliveryBatches } from './delivery-batches.js';
import { JobParking } from './job-parking.js';
import { LIMITS } from './limits.js';
import { Destinations } from './schedule/destinations.js';
import { PauseNotes } from './schedule/pause-notes.js';
import { type Slot, SlotScheduler } from './schedule/slot-scheduler.js';
import { SubscriptionActors, type SubscriptionObserver } from './schedule/subscription-actors.js';
import { SubscriptionQuota } from './schedule/subscription-quota.js';

export interface DispatcherOptions extends AttemptOptions {
  db: Database;
  /** The same database, with commits that need not be on the disk when they return. */
  relaxed: Database;
  lease: Pick<LeaseCell, 'permission'>;
  /** Attempts in flight in this thread at most (`DELIVERY_CONCURRENCY`). */
  concurrency: number;
  /** Share of the slots, and of the subscriptions held, that one workspace may have (`DELIVERY_WORKSPACE_PERCENT`). */
  workspace_share: number;
  /** Called with how long until jobs of the partition's delivery queue are due, in milliseconds; with 0 when they fit in again. */
  wakeIn: (partition: number, due_in_ms: number) => void;
  /** The longest wait before a paused destination is tried; `paused_try_cap_ms` by default. */
  try_ms?: number | undefined;
  /** Called after each change of a subscription's state. */
  onState?: SubscriptionObserver;
}

type DispatcherState =
  | { kind: 'running' }
  /** Nothing starts any more; attempts under way end. */
  | { kind: 'draining'; drained: Promise<void> }
  | { kind: 'drained' };

type Kind = DispatcherState['kind'];

const STEPS: Steps<Kind> = { running: ['draining'], draining: ['drained'], drained: [] };

/**
 * Sends the deliveries of the partitions that one thread owns. It holds subscriptions, not deliveries: a delivery is here only while
 * an attempt of it is. Rows and jobs are the truth: what is dropped here, the next owner's recovery finds.
 *
 *     running ──drain()──▶ draining ──the last attempt is written──▶ drained
 *
 * I1 attempts in flight never exceed `concurrency`, nor ends being written `slot_finishes` times that, and one workspace has its share of
 *    either at most (`slot-scheduler.ts`). A slot is free as soon as its receiver has answered, not when that is written;
 * I2 the job of a subscription of which nothing is known to be due is parked, after every claim that found nothing and every end of an attempt:
 *    until then that job is this thread's.
 */
export class Dispatcher {
  readonly #options: DispatcherOptions;
  readonly #slots: SlotScheduler;
  readonly #batches: DeliveryBatches;
  readonly #callbacks: CallbackAttempts;
  readonly #context: AttemptContext;
  readonly #notes: PauseNotes;
  readonly #destinations: Destinations;
  readonly #held: { workspaces: SubscriptionQuota; destinations: SubscriptionQuota };
  readonly #actors: SubscriptionActors;
  readonly #parking: JobParking;
  /** Partitions that found no room. */
  readonly #refused = new Set<number>();
  /** Partitions of which a full workspace, or destination, was not fetched. */
  readonly #skipped = new Set<number>();
  #state: DispatcherState = { kind: 'running' };

  constructor(options: DispatcherOptions) {
    const { db, relaxed, lease, log, concurrency, workspace_share, wakeIn } = options;
    this.#options = options;
    this.#slots = new SlotScheduler(concurrency, workspace_share);
    const bound = concurrency * (LIMITS.slot_finishes + 1);
    this.#batches = new DeliveryBatches({ db, relaxed, lease, log, bound });
    this.#callbacks = new CallbackAttempts(options);
    this.#context = { batches: this.#batches, callbacks: this.#callbacks, log };
    this.#notes = new PauseNotes(db, log);
    this.#destinations = new Destinations({
      ...{ notes: this.#notes, log, try_ms: options.try_ms },
      onTry: (destination) => {
        this.#slots.place(destination);
        this.#pump();
      },
    });
    const most = Math.max(1, Math.floor(LIMITS.thread_subscriptions * workspace_share));
    const onRoom = () => this.#wake(this.#skipped);
    this.#held = {
      workspaces: new SubscriptionQuota(most, onRoom),
      destinations: new SubscriptionQuota(Math.max(1, Math.floor(most * LIMITS.destination_slots_share)), onRoom),
    };
    this.#actors = new SubscriptionActors({
      ...{ slots: this.#slots, destinations: this.#destinations, held: this.#held },
      observe: options.onState,
    });
    this.#parking = new JobParking({
      batches: this.#batches,
      wakeIn,
      onParked: (actor) => {
        this.#actors.passivate(actor);
        this.#pump();
      },
    });
  }

  /** How many more subscriptions it takes now. After a 0, `wakeIn` is called for the partition when there is room again. */
  room(partition: number): number {
    const room = this.#roomNow();
    if (room === 0) this.#refused.add(partition);
    return room;
  }

  /** The workspaces and destinations of which no more is taken now. `wakeIn` is called for the partition when one of them is. */
  full(partition: number): FullShares {
    const workspaces = this.#held.workspaces.full;
    const destinations = this.#held.destinations.full;
    if (workspaces.length + destinations.length > 0) this.#skipped.add(partition);
    return { workspaces, destinations };
  }

  /** Takes fetched jobs: these subscriptions have something due. */
  take(partition: number, epoch: number, subscriptions: FetchedSubscription[]): void {
    for (const subscription of subscriptions) this.#actors.call(subscription, partition, epoch);
    this.#pump();
  }

  /** This thread took the partition again, under this epoch: its subscriptions go on, attempts in flight end as they began. */
  renew(partition: number, epoch: number): void {
    this.#actors.renew(partition, epoch);
  }

  /** True when the job of the subscription will be given back by this thread. */
  holdsJob(subscription: string): boolean {
    return this.#actors.holdsJob(subscription);
  }

  /** The attempts that this thread is making, from before their start is asked for until their end is written. */
  get inHand(): ReadonlySet<string> {
    return this.#batches.inHand;
  }

  /** The partition is given up: starts nothing more of it, resolves when its last attempt is over and written. `drop` follows. */
  quiesce(partition: number): Promise<void> {
    return this.#actors.leave((actor) => actor.partition === partition, false);
  }

  /** The partition is lost: nothing more of it starts, what is being sent runs out and writes nothing. */
  drop(partition: number): void {
    this.#refused.delete(partition);
    this.#skipped.delete(partition);
    void this.#actors.leave((actor) => actor.partition === partition, true);
  }

  /** Starts nothing more, resolves when the last attempt is over and written. */
  async drain(): Promise<void> {
    if (this.#state.kind === 'running') this.#enter({ kind: 'draining', drained: this.#drain() });
    if (this.#state.kind === 'draining') await this.#state.drained;
  }

  stats(): DeliveryStats {
    return {
      ...this.#callbacks.counters.counted(),
      in_flight: this.#slots.taken,
      waiting: this.#slots.waiting,
      subscriptions: this.#actors.size,
      paused_destinations: this.#destinations.paused,
    };
  }

  async #drain(): Promise<void> {
    this.#batches.close();
    await this.#actors.leave(() => true, false);
    this.#destinations.close();
    await this.#callbacks.destroy();
    await this.#notes.close();
    this.#enter({ kind: 'drained' });
  }

  /** Starts what may start, then wakes the partitions that found no room if there is some now. */
  #pump(): void {
    while (this.#state.kind === 'running') {
      const slot = this.#slots.take(); // I1
      if (!slot) break;
      void this.#attempt(slot);
    }
    if (this.#refused.size > 0 && this.#roomNow() > 0) this.#wake(this.#refused);
  }

  #wake(partitions: Set<number>): void {
    for (const partition of partitions) this.#options.wakeIn(partition, 0);
    partitions.clear();
  }

  async #attempt({ actor, release, written }: Slot): Promise<void> {
    const attempt = new DeliveryAttempt(actor, this.#context);
    const calls = actor.begin();
    this.#slots.update(actor);
    const result = await attempt.send(calls);
    release(); // I1
    actor.ended(result);
    if (result) actor.destination.learn(actor.id, result);
    this.#slots.update(actor);
    this.#pump();
    await attempt.finish();
    written();
    actor.written();
    this.#parking.park(this.#actors.latest(actor)); // I2
    this.#pump();
  }

  #roomNow(): number {
    return this.#state.kind === 'running' ? this.#actors.room : 0;
  }

  #enter(next: DispatcherState): void {
    checkStep('dispatcher', STEPS, this.#state.kind, next.kind);
    this.#state = next;
  }
}
