import type { FetchedSubscription } from '../../../storage/deliveries/delivery-queue.js';
import { LIMITS } from '../limits.js';
import type { Destinations } from './destinations.js';
import type { SlotScheduler } from './slot-scheduler.js';
import { SubscriptionActor, type SubscriptionState } from './subscription-actor.js';
import type { SubscriptionQuota } from './subscription-quota.js';

/** Observes the states of subscriptions, so that a test can wait for one. */
export type SubscriptionObserver = (subscriptionId: string, state: SubscriptionState) => void;

export interface SubscriptionActorsOptions {
  slots: SlotScheduler;
  destinations: Destinations;
  /** How many of each workspace, and of each destination, are here. */
  held: { workspaces: SubscriptionQuota; destinations: SubscriptionQuota };
  observe?: SubscriptionObserver | undefined;
}

/**
 * The subscription actors of one thread. Owns their places in the slot scheduler's queues. Invariants:
 * I1 a subscription has one actor that may start attempts: the one of the latest epoch;
 * I2 an actor whose partition was given up or lost is known here until its last attempt is over;
 * I3 the job of a subscription is its active actor's to give back, which stays while attempts of a former one are under way: their
 *    ends have it parked once more;
 * I4 a workspace, or a destination, that is `full` is fetched no further: past its share by one fetch of each partition at most.
 */
export class SubscriptionActors {
  readonly #options: SubscriptionActorsOptions;
  readonly #active = new Map<string, SubscriptionActor>();
  readonly #leaving = new Set<SubscriptionActor>();
  readonly #waiters = new Set<{ of: (actor: SubscriptionActor) => boolean; resolve: () => void }>();

  constructor(options: SubscriptionActorsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#active.size;
  }

  /** How many more subscriptions there is room for. */
  get room(): number {
    return Math.max(0, LIMITS.thread_subscriptions - this.#active.size);
  }

  /** The subscription's job was fetched under this epoch. */
  call(fetched: FetchedSubscription, partition: number, epoch: number): void {
    const { id } = fetched;
    const { destinations, held } = this.#options;
    const known = this.#active.get(id);
    // One that leads elsewhere now makes the attempts that it has under way; the next one starts the rest.
    const stale = known && known.epoch < epoch;
    if (known && !stale && known.destination.key === destinations.keyOf(fetched)) {
      known.call();
      return;
    }
    known?.leave(stale === true); // I1
    const actor: SubscriptionActor = new SubscriptionActor(id, destinations.of(fetched), partition, epoch, (state) =>
      this.#changed(actor, state),
    );
    this.#active.set(id, actor);
    destinations.hold(actor);
    held.workspaces.add(actor.workspaceId);
    held.destinations.add(actor.destination.key);
    actor.call();
  }

  /** This thread took the partition again under this epoch: its actors go on. */
  renew(partition: number, epoch: number): void {
    for (const actor of this.#active.values()) if (actor.partition === partition) actor.renew(epoch);
  }

  /** True when an actor of the subscription will give its job back. */
  holdsJob(id: string): boolean {
    const actor = this.#active.get(id);
    return actor !== undefined && (actor.holdsJob || this.#hasFormer(id)); // I3
  }

  /** The actor that took over from this one, or this one where none did (I3). */
  latest(actor: SubscriptionActor): SubscriptionActor {
    return this.#active.get(actor.id) ?? actor;
  }

  /** Lets these start nothing more; resolves when their last attempt is over. `lost`: their partitions are another owner's. */
  leave(of: (actor: SubscriptionActor) => boolean, lost: boolean): Promise<void> {
    for (const actor of [...this.#active.values(), ...this.#leaving]) if (of(actor)) actor.leave(lost);
    return new Promise((resolve) => {
      this.#waiters.add({ of, resolve });
      this.#resolveWaiters();
    });
  }

  /**
   * Drops an idle actor of which nothing is under way. A slow one stays while there is room: without its actor, its receiver
   * would count as fast at the next delivery. There is room up to half of what the thread, and its workspace, may have here.
   */
  passivate(actor: SubscriptionActor): void {
    if (actor.state !== 'idle' || actor.busy || this.#hasFormer(actor.id)) return; // I3
    const { workspaces } = this.#options.held;
    const roomy = this.#active.size <= LIMITS.idle_slow_subscriptions && workspaces.roomy(actor.workspaceId);
    if (!actor.slow || !roomy) actor.passivate();
  }

  /** True while one that the active actor took over from has attempts under way. */
  #hasFormer(id: string): boolean {
    for (const former of this.#leaving) if (former.id === id) return true;
    return false;
  }

  #changed(actor: SubscriptionActor, state: SubscriptionState): void {
    this.#options.slots.update(actor);
    switch (state.kind) {
      case 'leaving':
      case 'lost':
        this.#forget(actor);
        this.#leaving.add(actor); // I2
        break;
      case 'gone':
        this.#forget(actor);
        this.#leaving.delete(actor);
        this.#options.destinations.release(actor);
        this.#resolveWaiters();
        break;
      case 'idle':
      case 'due':
      case 'parking':
      case 'recalled':
        break;
      default:
        state satisfies never;
    }
    this.#options.observe?.(actor.id, state);
  }

  #forget(actor: SubscriptionActor): void {
    if (this.#active.get(actor.id) !== actor) return;
    this.#active.delete(actor.id);
    const { workspaces, destinations } = this.#options.held;
    workspaces.remove(actor.workspaceId);
    destinations.remove(actor.destination.key);
  }

  #resolveWaiters(): void {
    for (const waiter of this.#waiters) {
      if ([...this.#leaving].some(waiter.of)) continue;
      this.#waiters.delete(waiter);
      waiter.resolve();
    }
  }
}
