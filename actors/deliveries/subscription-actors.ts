import type { FetchedSubscription } from '../../storage/deliveries/delivery-queue.js';
import { LIMITS } from './limits.js';
import type { SlotScheduler } from './slot-scheduler.js';
import { SubscriptionActor, type SubscriptionState } from './subscription-actor.js';
import type { WorkspaceHolds } from './workspace-holds.js';

/** Observes the states of subscriptions, so that a test can wait for one. */
export type SubscriptionObserver = (subscriptionId: string, state: SubscriptionState) => void;

/**
 * The subscription actors of one thread. Owns their places in the slot scheduler's queues. Invariants:
 * I1 a subscription has one actor that may start attempts: the one of the latest epoch;
 * I2 an actor whose partition was given up or lost is known here until its last attempt is over;
 * I3 a workspace that is `full` is fetched no further: past its share by one fetch of each partition at most.
 */
export class SubscriptionActors {
  readonly #slots: SlotScheduler;
  readonly #observe: SubscriptionObserver;
  readonly #active = new Map<string, SubscriptionActor>();
  readonly #leaving = new Set<SubscriptionActor>();
  readonly #held: WorkspaceHolds;
  readonly #waiters = new Set<{ of: (actor: SubscriptionActor) => boolean; resolve: () => void }>();

  constructor(slots: SlotScheduler, held: WorkspaceHolds, observe: SubscriptionObserver = () => {}) {
    this.#slots = slots;
    this.#held = held;
    this.#observe = observe;
  }

  get size(): number {
    return this.#active.size;
  }

  /** How many more subscriptions there is room for. */
  get room(): number {
    return Math.max(0, LIMITS.thread_subscriptions - this.#active.size);
  }

  /** The subscription's job was fetched under this epoch. Of one that was deleted the workspace is not known any more. */
  call({ id, workspace_id }: FetchedSubscription, partition: number, epoch: number): void {
    const known = this.#active.get(id);
    if (known && known.epoch >= epoch) {
      known.call();
      return;
    }
    known?.leave(true); // I1
    const actor: SubscriptionActor = new SubscriptionActor(id, workspace_id ?? id, partition, epoch, (state) =>
      this.#changed(actor, state),
    );
    this.#active.set(id, actor);
    this.#held.add(actor.workspaceId);
    actor.call();
  }

  /** This thread took the partition again under this epoch: its actors go on. */
  renew(partition: number, epoch: number): void {
    for (const actor of this.#active.values()) if (actor.partition === partition) actor.renew(epoch);
  }

  /** True when an actor of the subscription will give its job back. */
  holdsJob(id: string): boolean {
    return this.#active.get(id)?.holdsJob ?? false;
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
    if (actor.state !== 'idle' || actor.busy) return;
    const roomy = this.#active.size <= LIMITS.idle_slow_subscriptions && this.#held.roomy(actor.workspaceId);
    if (!actor.slow || !roomy) actor.passivate();
  }

  #changed(actor: SubscriptionActor, state: SubscriptionState): void {
    this.#slots.update(actor);
    switch (state.kind) {
      case 'leaving':
      case 'lost':
        this.#forget(actor);
        this.#leaving.add(actor); // I2
        break;
      case 'gone':
        this.#forget(actor);
        this.#leaving.delete(actor);
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
    this.#observe(actor.id, state);
  }

  #forget(actor: SubscriptionActor): void {
    if (this.#active.get(actor.id) !== actor) return;
    this.#active.delete(actor.id);
    this.#held.remove(actor.workspaceId);
  }

  #resolveWaiters(): void {
    for (const waiter of this.#waiters) {
      if ([...this.#leaving].some(waiter.of)) continue;
      this.#waiters.delete(waiter);
      waiter.resolve();
    }
  }
}
