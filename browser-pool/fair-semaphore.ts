/**
 * Turns on a scarce thing (a run slot, a page slot), handed out fairly between workspaces.
 *
 * A lease is *waiting* until its turn comes (→ held), its wait is over, its signal aborts or the queue is full
 * (→ refused); a *held* one ends when its holder releases it.
 *
 * I1. At most `slots` leases are held.
 * I2. At most `bound` leases wait; further ones are refused at once.
 * I3. While several workspaces wait, turns go round them: one with a thousand waiting runs delays another's first
 *     run by one turn, not by a thousand. Within a workspace the order is first in, first out.
 */
export class FairSemaphore {
  #slots: number;
  #bound: number;
  #held = 0;
  #waiting = 0;
  /** Insertion order is the order of turns: a workspace that had one goes to the end. */
  #workspaces = new Map<string, Set<Waiter>>();

  constructor(slots: number, bound: number) {
    this.#slots = slots;
    this.#bound = bound;
  }

  get held(): number {
    return this.#held;
  }

  /** Whether a lease would be given without waiting. */
  get free(): boolean {
    return this.#held < this.#slots;
  }

  get waiting(): number {
    return this.#waiting;
  }

  /**
   * Resolves with the release function (to be called once) when the turn comes. Rejects with `SemaphoreRefused` when the
   * queue is full or `wait_ms` is over, with the signal's reason when it aborts.
   */
  lease(workspaceId: string, wait_ms: number, signal: AbortSignal): Promise<() => void> {
    if (signal.aborted) return Promise.reject(signal.reason);
    if (this.free) return Promise.resolve(this.#hold());
    if (this.#waiting >= this.#bound) return Promise.reject(new SemaphoreRefused('queue_full'));
    return new Promise((resolve, reject) => {
      const leave = (reason: unknown) => {
        this.#remove(workspaceId, waiter);
        settle();
        reject(reason);
      };
      const timer = setTimeout(() => leave(new SemaphoreRefused('queue_wait')), wait_ms);
      const aborted = () => leave(signal.reason);
      signal.addEventListener('abort', aborted, { once: true });
      const settle = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', aborted);
      };
      const waiter: Waiter = {
        take: () => {
          settle();
          resolve(this.#hold());
        },
      };
      this.#add(workspaceId, waiter);
    });
  }

  #hold(): () => void {
    this.#held += 1;
    let released = false;
    return () => {
      if (released) return;
      released = true;
      this.#held -= 1;
      this.#next();
    };
  }

  #next(): void {
    if (!this.free) return;
    const first = this.#workspaces.entries().next().value;
    if (!first) return;
    const [workspaceId, waiters] = first;
    const waiter = waiters.values().next().value;
    if (!waiter) return;
    this.#remove(workspaceId, waiter);
    if (waiters.size > 0) {
      this.#workspaces.delete(workspaceId);
      this.#workspaces.set(workspaceId, waiters);
    }
    waiter.take();
  }

  #add(workspaceId: string, waiter: Waiter): void {
    const waiters = this.#workspaces.get(workspaceId);
    if (waiters) waiters.add(waiter);
    else this.#workspaces.set(workspaceId, new Set([waiter]));
    this.#waiting += 1;
  }

  #remove(workspaceId: string, waiter: Waiter): void {
    const waiters = this.#workspaces.get(workspaceId);
    if (!waiters?.delete(waiter)) return;
    this.#waiting -= 1;
    if (waiters.size === 0) this.#workspaces.delete(workspaceId);
  }
}

interface Waiter {
  take: () => void;
}

/** Why a lease was not given. */
export class SemaphoreRefused extends Error {
  constructor(readonly reason: 'queue_full' | 'queue_wait') {
    super(reason);
  }
}
