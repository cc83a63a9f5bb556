/**
 * Slots of a scarce thing (running runs, open pages), shared fairly between workspaces.
 *
 * A request for a slot is *waiting* until a slot is free (→ held) or its signal aborts (→ refused). A *held* slot is free
 * again when its holder releases it.
 *
 * I1. At most `slots` slots are held.
 * I2. A request waits for as long as its caller wants it: what was accepted is not refused because others came first. Callers
 *     bound how many there are.
 * I3. While several workspaces wait, slots go round them: one with a thousand waiting runs delays another's first
 *     run by one slot, not by a thousand. Within a workspace the order is first in, first out.
 */
export class FairSemaphore {
  readonly #slots: number;
  #held = 0;
  #waiting = 0;
  /** Insertion order is the order of service: a workspace that got a slot goes to the end. */
  readonly #workspaces = new Map<string, Set<Waiter>>();

  constructor(slots: number) {
    this.#slots = slots;
  }

  /** Slots held. */
  get held(): number {
    return this.#held;
  }

  /** Whether a request would be served without waiting. */
  get free(): boolean {
    return this.#held < this.#slots;
  }

  /** Requests that wait. */
  get waiting(): number {
    return this.#waiting;
  }

  /**
   * Resolves with the release function, to be called once, when a slot is free. Rejects with the signal's reason when it
   * aborts first.
   */
  acquire(workspaceId: string, signal: AbortSignal): Promise<() => void> {
    if (signal.aborted) return Promise.reject(signal.reason);
    if (this.free) return Promise.resolve(this.#hold());
    return new Promise((resolve, reject) => {
      const aborted = () => {
        this.#remove(workspaceId, waiter);
        reject(signal.reason);
      };
      const waiter = () => {
        signal.removeEventListener('abort', aborted);
        resolve(this.#hold());
      };
      signal.addEventListener('abort', aborted, { once: true });
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
      this.#serveNext();
    };
  }

  #serveNext(): void {
    if (!this.free) return; // I1
    const first = this.#workspaces.entries().next().value;
    if (!first) return;
    const [workspaceId, waiters] = first;
    const waiter = waiters.values().next().value;
    if (!waiter) return;
    this.#remove(workspaceId, waiter);
    if (waiters.size > 0) {
      this.#workspaces.delete(workspaceId); // I3
      this.#workspaces.set(workspaceId, waiters);
    }
    waiter();
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

/** Takes the slot that is free now. */
type Waiter = () => void;
