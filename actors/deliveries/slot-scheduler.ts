import { LIMITS } from './limits.js';
import type { SubscriptionActor } from './subscription-actor.js';

/** A slot that a subscription's next attempt takes. */
export interface Slot {
  actor: SubscriptionActor;
  /** Gives the slot back, once. */
  release(): void;
}

/**
 * Which subscription gets the next free slot (EVT-10). Owns the slots of one thread. Invariants:
 * I1 no more slots are taken than there are;
 * I2 subscriptions that are ready take turns, one attempt each;
 * I3 subscriptions with slow receivers have a queue of their own and hold at most `slow_slots_share` of the slots: however many
 *    receivers are dead, the others keep the rest.
 */
export class SlotScheduler {
  readonly #slots: number;
  readonly #slowSlots: number;
  readonly #fast = new Set<SubscriptionActor>();
  readonly #slow = new Set<SubscriptionActor>();
  #taken = 0;
  #takenBySlow = 0;
  #slowNext = false;

  constructor(slots: number) {
    this.#slots = slots;
    this.#slowSlots = Math.max(1, Math.floor(slots * LIMITS.slow_slots_share));
  }

  get taken(): number {
    return this.#taken;
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

  /** Takes a slot for the subscription at the head of a queue. Undefined when no attempt may start. */
  take(): Slot | undefined {
    if (this.#taken >= this.#slots) return undefined; // I1
    const slowMay = this.#slow.size > 0 && this.#takenBySlow < this.#slowSlots; // I3
    const slow = slowMay && (this.#slowNext || this.#fast.size === 0);
    this.#slowNext = !slow;
    const queue = slow ? this.#slow : this.#fast;
    const [actor] = queue;
    if (!actor) return undefined;
    queue.delete(actor); // I2: queued again behind the others
    this.#taken++;
    if (slow) this.#takenBySlow++;
    return {
      actor,
      release: () => {
        this.#taken--;
        if (slow) this.#takenBySlow--;
      },
    };
  }
}
