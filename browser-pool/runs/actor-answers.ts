/** What an actor answers a run with. */
export type Answered = 'proceed' | 'code' | 'stored';

/**
 * What a run waits to hear from its actor: one thing at a time. A wait ends with the answer, with its own failure when
 * it takes too long, or with the reason of the run's signal. Answers nobody waits for are dropped.
 */
export class ActorAnswers {
  #signal: AbortSignal;
  #awaited: { what: Answered; resolve: (answer: string) => void } | undefined;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  async wait(what: Answered, wait_ms: number, tooLong: Error): Promise<string> {
    const signal = this.#signal;
    signal.throwIfAborted();
    let ended = () => {};
    try {
      return await new Promise<string>((resolve, reject) => {
        const stop = () => reject(signal.reason);
        const timer = setTimeout(reject, wait_ms, tooLong);
        signal.addEventListener('abort', stop, { once: true });
        this.#awaited = { what, resolve };
        ended = () => {
          clearTimeout(timer);
          signal.removeEventListener('abort', stop);
        };
      });
    } finally {
      ended();
      this.#awaited = undefined;
    }
  }

  /** Gives the answer to who waits for it; false when nobody does. */
  give(what: Answered, answer: string): boolean {
    if (this.#awaited?.what !== what || this.#signal.aborted) return false;
    this.#awaited.resolve(answer);
    return true;
  }
}
