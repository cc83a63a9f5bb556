import { LIMITS } from './limits.js';
import type { SubscriptionActor } from './subscription-actor.js';
import { WorkspaceTurns } from './workspace-turns.js';

/** A slot that a subscription's next attempt takes. */
export interface Slot {
  actor: SubscriptionActor;
  /** Gives the slot back, once: the attempt is over, its end is to be written. */
  release(): void;
  /** The end is written, or was none. Once, after `release`. */
  written(): void;
}

/** What one workspace has now. */
interface Use {
  slots: number;
  slow: number;
  ends: number;
}

/**
 * Which subscription gets the next free slot (EVT-10). Owns the slots of one thread. Invariants:
 * I1 no more slots are taken than there are, and no more than `slot_finishes` times as many ends are being written;
 * I2 workspaces with subscriptions that are ready take turns, one attempt each, and so do the subscriptions of one workspace;
 * I3 subscriptions with slow receivers have a queue of their own and hold at most `slow_slots_share` of the slots: however many
 *    receivers are dead, the others keep the rest;
 * I4 one workspace holds at most its share of the slots, of those of slow receivers, and of the ends being written: however many
 *    subscriptions it has, the others keep the rest.
 */
export class SlotScheduler {
  readonly #most: Use;
  readonly #mostOfOne: Use;
  readonly #fast = new WorkspaceTurns();
  readonly #slow = new WorkspaceTurns();
  readonly #used: Use = { slots: 0, slow: 0, ends: 0 };
  /** Of each workspace that has something. */
  readonly #usedBy = new Map<string, Use>();
  #slowNext = false;

  /** `workspace_share` is that of one workspace, above 0, at most 1. */
  constructor(slots: number, workspace_share: number) {
    const slow = Math.max(1, Math.floor(slots * LIMITS.slow_slots_share));
    this.#most = { slots, slow, ends: slots * LIMITS.slot_finishes };
    const share = (most: number) => Math.max(1, Math.floor(most * workspace_share));
    this.#mostOfOne = { slots: share(slots), slow: share(slow), ends: share(this.#most.ends) };
  }

  get taken(): number {
    return this.#used.slots;
  }

  /** Subscriptions that could start an attempt if there were a slot. */
  get waiting(): number {
    return this.#fast.size + this.#slow.size;
  }

  /** Queues the subscription if its next attempt may start, and removes it if not. Call it after every change of the actor. */
  update(actor: SubscriptionActor): void {
    const queue = actor.slow ? this.#slow : this.#fast;
    (actor.slow ? this.#fast : this.#slow).delete(actor);
    if (actor.ready) queue.add(actor);
    else queue.delete(actor);
  }

  /** Takes a slot for the subscription whose turn it is. Undefined when no attempt may start. */
  take(): Slot | undefined {
    if (this.#used.slots >= this.#most.slots || this.#used.ends >= this.#most.ends) return undefined; // I1
    let slow = this.#slowNext;
    let actor = this.#next(slow);
    if (!actor) {
      slow = !slow;
      actor = this.#next(slow);
    }
    if (!actor) return undefined;
    this.#slowNext = !slow;
    const { workspaceId } = actor;
    this.#use(workspaceId, { slots: 1, slow: slow ? 1 : 0, ends: 0 });
    return {
      actor,
      release: () => this.#use(workspaceId, { slots: -1, slow: slow ? -1 : 0, ends: 1 }),
      written: () => this.#use(workspaceId, { slots: 0, slow: 0, ends: -1 }),
    };
  }

  /** I2: it is queued again behind the others. */
  #next(slow: boolean): SubscriptionActor | undefined {
    if (slow && this.#used.slow >= this.#most.slow) return undefined; // I3
    const most = this.#mostOfOne;
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
