/**
 * A bounded number of slots, served in the order in which they were asked for. A request is *waiting* until a slot is free
 * (→ held) or its signal aborts (→ gone); a *held* slot is free again when its holder releases it.
 *
 * Invariants: I1 at most `slots` are held.
 */
export class Slots {
  #free: number;
  readonly #waiting = new Set<() => void>();

  constructor(slots: number) {
    this.#free = slots;
  }

  /** Resolves with what releases the slot; calls after the first change nothing. Rejects with the signal's reason when it aborts first. */
  take(signal?: AbortSignal): Promise<() => void> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    if (this.#free > 0) return Promise.resolve(this.#hold());
    return new Promise((resolve, reject) => {
      const aborted = () => {
        this.#waiting.delete(serve);
        reject(signal?.reason);
      };
      const serve = () => {
        signal?.removeEventListener('abort', aborted);
        resolve(this.#hold());
      };
      signal?.addEventListener('abort', aborted, { once: true });
      this.#waiting.add(serve);
    });
  }

  /** Runs `work` in a slot. */
  async within<T>(work: () => Promise<T>): Promise<T> {
    const release = await this.take();
    try {
      return await work();
    } finally {
      release();
    }
  }

  /** I1 */
  #hold(): () => void {
    this.#free--;
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      this.#free++;
      const [next] = this.#waiting;
      if (!next) return;
      this.#waiting.delete(next);
      next();
    };
  }
}
