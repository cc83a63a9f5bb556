import { FairQueue } from '../../../storage/process/fair-queue.js';
import { LIMITS } from '../limits.js';
import type { SlotShare } from './destination.js';
import type { SubscriptionActor, SubscriptionDestination } from './subscription-actor.js';

/** A slot that a subscription's next attempt takes. */
export interface Slot {
  actor: SubscriptionActor;
  /** Gives the slot back, once: the attempt is over, its end is to be written. */
  release(): void;
  /** The end is written, or was none. Once, after `release`. */
  written(): void;
}

/** What one workspace has now. */
interface Use extends SlotShare {
  ends: number;
}

/**
 * Which subscription gets the next free slot (EVT-10). Owns the slots of one thread. Invariants:
 * I1 no more slots are taken than there are, and no more than `slot_finishes` times as many ends are being written;
 * I2 workspaces that want a slot take turns, one attempt each; so do the destinations of one workspace, and the subscriptions of one
 *    destination;
 * I3 attempts of slow receivers, and of destinations that are not known to answer, hold at most `slow_slots_share` of the slots:
 *    however many receivers are dead, the others keep the rest;
 * I4 one workspace holds at most its share of the slots, of those of slow receivers, and of the ends being written: however many
 *    subscriptions it has, the others keep the rest;
 * I5 one destination holds at most `destination_slots_share` of what its workspace may have: the workspace's others keep the rest.
 */
export class SlotScheduler {
  readonly #most: Use;
  readonly #mostOfWorkspace: Use;
  readonly #mostOfDestination: SlotShare;
  /** Destinations that want a slot, by workspace: those with due attempts of quick receivers, and of slow ones. */
  readonly #fast = new FairQueue<SubscriptionDestination>();
  readonly #slow = new FairQueue<SubscriptionDestination>();
  readonly #used: Use = { slots: 0, slow: 0, ends: 0 };
  /** Of each workspace that has something. */
  readonly #usedBy = new Map<string, Use>();
  /** Destinations with subscriptions that may start an attempt. */
  readonly #waiting = new Set<SubscriptionDestination>();
  #slowNext = false;

  /** `workspace_share` is that of one workspace, above 0, at most 1. */
  constructor(slots: number, workspace_share: number) {
    const slow = shareOf(slots, LIMITS.slow_slots_share);
    this.#most = { slots, slow, ends: slots * LIMITS.slot_finishes };
    const ofWorkspace = (most: number) => shareOf(most, workspace_share);
    this.#mostOfWorkspace = { slots: ofWorkspace(slots), slow: ofWorkspace(slow), ends: ofWorkspace(this.#most.ends) };
    const ofDestination = (most: number) => shareOf(most, LIMITS.destination_slots_share);
    this.#mostOfDestination = {
      slots: ofDestination(this.#mostOfWorkspace.slots),
      slow: ofDestination(this.#mostOfWorkspace.slow),
    };
  }

  get taken(): number {
    return this.#used.slots;
  }

  /** Subscriptions that could start an attempt if there were a slot; none of a paused destination. */
  get waiting(): number {
    let count = 0;
    for (const destination of this.#waiting) if (destination.state !== 'paused') count += destination.waiting;
    return count;
  }

  /** Queues the subscription if its next attempt may start, and removes it if not. Call it after every change of the actor. */
  update(actor: SubscriptionActor): void {
    actor.destination.queue(actor);
    this.place(actor.destination);
  }

  /** Gives the destination its place in the turns, or takes it away. Call it after every change of its state. */
  place(destination: SubscriptionDestination): void {
    if (destination.waiting > 0) this.#waiting.add(destination);
    else this.#waiting.delete(destination);
    for (const slow of [false, true]) {
      const turns = slow ? this.#slow : this.#fast;
      if (destination.wants(slow, this.#mostOfDestination))
        turns.add(destination.workspaceId, destination); // I5
      else turns.delete(destination.workspaceId, destination);
    }
  }

  /** Takes a slot for the subscription whose turn it is. Undefined when no attempt may start. */
  take(): Slot | undefined {
    if (this.#used.slots >= this.#most.slots || this.#used.ends >= this.#most.ends) return undefined; // I1
    let slow = this.#slowNext;
    let destination = this.#next(slow);
    if (!destination) {
      slow = !slow;
      destination = this.#next(slow);
    }
    const actor = destination?.take(slow);
    if (!destination || !actor) return undefined;
    this.#slowNext = !slow;
    const { workspaceId } = destination;
    const of = destination;
    this.#use(workspaceId, { slots: 1, slow: slow ? 1 : 0, ends: 0 });
    this.place(of); // I2: behind the others
    return {
      actor,
      release: () => {
        this.#use(workspaceId, { slots: -1, slow: slow ? -1 : 0, ends: 1 });
        of.release(slow);
        this.place(of);
      },
      written: () => this.#use(workspaceId, { slots: 0, slow: 0, ends: -1 }),
    };
  }

  #next(slow: boolean): SubscriptionDestination | undefined {
    if (slow && this.#used.slow >= this.#most.slow) return undefined; // I3
    const most = this.#mostOfWorkspace;
    return (slow ? this.#slow : this.#fast).take((workspaceId) => {
      const used = this.#usedBy.get(workspaceId);
      return !used || (used.slots < most.slots && used.ends < most.ends && (!slow || used.slow < most.slow)); // I4
    });
  }

  #use(workspaceId: string, { slots, slow, ends }: Use): void {
    const one = this.#usedBy.get(workspaceId) ?? { slots: 0, slow: 0, ends: 0 };
    for (const used of [this.#used, one]) {
      used.slots += slots;
      used.slow += slow;
      used.ends += ends;
    }
    if (one.slots + one.ends === 0) this.#usedBy.delete(workspaceId);
    else this.#usedBy.set(workspaceId, one);
  }
}

const shareOf = (most: number, share: number): number => Math.max(1, Math.floor(most * share));
