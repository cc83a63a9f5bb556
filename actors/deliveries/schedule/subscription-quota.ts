import { LIMITS } from '../limits.js';

/**
 * How many subscriptions of each workspace, or of each destination, a thread holds, and which of them are full: those that reached
 * their share, until they are well below it. Their jobs stay due and unfetched, so that the jobs of others are not behind them.
 */
export class SubscriptionQuota {
  readonly #most: number;
  readonly #onRoom: () => void;
  readonly #held = new Map<string, number>();
  readonly #full = new Set<string>();

  /** `most` is how many one of them may have; `onRoom` is called when one is no longer full. */
  constructor(most: number, onRoom: () => void) {
    this.#most = most;
    this.#onRoom = onRoom;
  }

  get full(): string[] {
    return [...this.#full];
  }

  /** True while it has at most half of what it may have. */
  roomy(key: string): boolean {
    return (this.#held.get(key) ?? 0) <= this.#most / 2;
  }

  add(key: string): void {
    const held = (this.#held.get(key) ?? 0) + 1;
    this.#held.set(key, held);
    if (held >= this.#most) this.#full.add(key);
  }

  remove(key: string): void {
    const held = (this.#held.get(key) ?? 1) - 1;
    if (held === 0) this.#held.delete(key);
    else this.#held.set(key, held);
    if (held > this.#most * LIMITS.full_share || !this.#full.delete(key)) return;
    this.#onRoom();
  }
}
