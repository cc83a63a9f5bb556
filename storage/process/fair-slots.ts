import { FairQueue } from './fair-queue.js';

/**
 * Slots of a scarce resource (runs, open pages, connections to the database), shared fairly between the keys that ask (workspaces, API keys).
 *
 * A request is *waiting* until a slot is free (→ held) or its signal aborts (→ refused). A *held* slot is free again when its holder releases it.
 *
 * I1. At most `slots` slots are held.
 * I2. One key holds at most `each` of them, where that is given: its holders may be slow, and the others find the rest.
 * I3. A request waits for as long as its caller wants it: what was accepted is not refused because others came first. Callers bound how many
 *     there are.
 * I4. While several keys wait, slots go round them: one with a thousand waiting requests delays another's first by one slot, not by a thousand.
 *     Within a key the order is first in, first out.
 */
export class FairSlots {
  readonly #slots: number;
  readonly #each: number;
  readonly #waiting = new FairQueue<Waiter>();
  /** Slots held by key; empty when no bound a key is set. */
  readonly #heldBy = new Map<string, number>();
  readonly #mayHold = (key: string) =>
    this.#each === Number.POSITIVE_INFINITY || (this.#heldBy.get(key) ?? 0) < this.#each;
  #held = 0;

  constructor(slots: number, { each = Number.POSITIVE_INFINITY }: { each?: number } = {}) {
    this.#slots = slots;
    this.#each = each;
  }

  /** Slots held. */
  get held(): number {
    return this.#held;
  }

  /** Whether there is a slot that nobody holds. */
  get free(): boolean {
    return this.#held < this.#slots;
  }

  /** Requests that wait. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /**
   * Resolves with the release function when the key gets a slot; calls of it after the first change nothing. Rejects with the signal's reason
   * when that aborts first.
   */
  acquire(key: string, signal?: AbortSignal): Promise<() => void> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    if (this.free && this.#mayHold(key)) return Promise.resolve(this.#hold(key));
    return new Promise((resolve, reject) => {
      const aborted = () => {
        this.#waiting.delete(key, waiter);
        reject(signal?.reason);
      };
      const waiter = () => {
        signal?.removeEventListener('abort', aborted);
        resolve(this.#hold(key));
      };
      signal?.addEventListener('abort', aborted, { once: true });
      this.#waiting.add(key, waiter);
    });
  }

  /** Runs `work` in a slot of this key. */
  async within<T>(key: string, work: () => Promise<T>): Promise<T> {
    const release = await this.acquire(key);
    try {
      return await work();
    } finally {
      release();
    }
  }

  #hold(key: string): () => void {
    this.#count(key, 1);
    let released = false;
    return () => {
      if (released) return;
      released = true;
      this.#count(key, -1);
      if (this.free) this.#waiting.take(this.#mayHold)?.(); // I1, I2, I4: a released slot serves one request at most
    };
  }

  #count(key: string, change: 1 | -1): void {
    this.#held += change;
    if (this.#each === Number.POSITIVE_INFINITY) return;
    const held = (this.#heldBy.get(key) ?? 0) + change;
    if (held === 0) this.#heldBy.delete(key);
    else this.#heldBy.set(key, held);
  }
}

/** Takes the slot that is free now. */
type Waiter = () => void;
