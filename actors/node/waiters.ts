/** The callers that wait for operations to become awaitable. A wake-up is a hint: the waiter reads the row. */
export class Waiters {
  readonly #waiting = new Map<string, Set<() => void>>();

  /** Resolves at the next wake-up for this operation, or after `timeout_ms`. */
  wait(operationId: string, timeout_ms: number): Promise<void> {
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
    for (const done of [...(this.#waiting.get(operationId) ?? [])]) done();
  }
}
