import { SLOW_share } from './limits.js';
import type { SubscriptionActor } from './subscription-actor.js';

/**
 * Whose turn the next free slot is (EVT-10). Owns the slots of one thread. Subscriptions take turns, one delivery each;
 * those with slow receivers have a line of their own and hold at most `SLOW_share` of the slots, so that however
 * many receivers are dead, the others keep the rest.
 */
export class SlotScheduler {
  readonly #fast = new Set<SubscriptionActor>();
  readonly #slow = new Set<SubscriptionActor>();
  readonly #slowSlots: number;
  #taken = 0;
  #takenBySlow = 0;
  #slowNext = false;

  constructor(private readonly slots: number) {
    this.#slowSlots = Math.max(1, Math.floor(slots * SLOW_share));
  }

  get taken(): number {
    return this.#taken;
  }

  /** Subscriptions that could start an attempt now, were there a slot. */
  get waiting(): number {
    return this.#fast.size + this.#slow.size;
  }

  /** Puts the subscription in line when its next delivery may start, and takes it out when not. After every change. */
  update(actor: SubscriptionActor): void {
    const line = actor.slow ? this.#slow : this.#fast;
    (actor.slow ? this.#fast : this.#slow).delete(actor);
    if (actor.ready) line.add(actor);
    else line.delete(actor);
  }

  /** Takes a slot for the subscription whose turn it is; give it back with `end`. Undefined when none may start. */
  begin(): { actor: SubscriptionActor; end: () => void } | undefined {
    if (this.#taken >= this.slots) return undefined;
    const slowMay = this.#slow.size > 0 && this.#takenBySlow < this.#slowSlots;
    const slow = slowMay && (this.#slowNext || this.#fast.size === 0);
    this.#slowNext = !slow;
    const line = slow ? this.#slow : this.#fast;
    const [actor] = line;
    if (!actor) return undefined;
    line.delete(actor);
    this.#taken++;
    if (slow) this.#takenBySlow++;
    const end = () => {
      this.#taken--;
      if (slow) this.#takenBySlow--;
    };
    return { actor, end };
  }
}
