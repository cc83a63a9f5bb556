import { LIMITS } from '../limits.js';

/**
 * The callers that wait for operations to become awaitable. A wake-up is a hint: the waiter reads the row.
 *
 * I1. A wake-up that comes while a waiter reads the row is not lost: those of the last while are remembered, each with its number, and the
 *     waiter says which ones it knows of. What is forgotten is made up for by the end of its wait, which is short.
 */
export class Waiters {
  readonly #waiting = new Map<string, Set<() => void>>();
  /** Operations with the numbers of their last wake-ups: of this while, and of the one before. */
  #recent = new Map<string, number>();
  #former = new Map<string, number>();
  #turned_ms = performance.now();
  #wakeUps = 0;

  /** The number of the last wake-up. A caller that is about to read a row keeps it for `wait`. */
  get wakeUps(): number {
    return this.#wakeUps;
  }

  /** Resolves at the next wake-up for this operation after the one of this number, or after `timeout_ms`. */
  wait(operationId: string, after: number, timeout_ms: number): Promise<void> {
    const last = this.#recent.get(operationId) ?? this.#former.get(operationId) ?? 0;
    if (last > after) return Promise.resolve(); // I1
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(operationId) ?? new Set();
      this.#waiting.set(operationId, waiting);
      const done = () => {
        clearTimeout(timer);
        waiting.delete(done);
        if (waiting.size === 0) this.#waiting.delete(operationId);
        resolve();
      };
      const timer = setTimeout(done, timeout_ms);
      waiting.add(done);
    });
  }

  wake(operationId: string): void {
    const now = performance.now();
    if (now - this.#turned_ms > LIMITS.wake_up_memory_ms) {
      this.#former = this.#recent;
      this.#recent = new Map();
      this.#turned_ms = now;
    }
    this.#recent.set(operationId, ++this.#wakeUps);
    for (const done of [...(this.#waiting.get(operationId) ?? [])]) done();
  }
}
