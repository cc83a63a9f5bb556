import { LIMITS } from '../limits.js';
import type { SubmitOutcome } from '../system.js';

/**
 * The submissions that one thread was sent and has not answered.
 *
 * Invariants: I1 each is answered once; I2 their number is bounded.
 */
export class PendingSubmissions {
  readonly #waiting = new Map<number, (outcome: SubmitOutcome) => void>();
  #next = 0;

  /** Sends a submission under a number of its own and resolves with its outcome; `failed` when `send` gives false. */
  add(send: (request: number) => boolean): Promise<SubmitOutcome> {
    if (this.#waiting.size >= LIMITS.committer_submissions) return Promise.resolve({ kind: 'overloaded' }); // I2
    const request = this.#next++;
    return new Promise((resolve) => {
      this.#waiting.set(request, resolve);
      if (!send(request)) this.answer(request, { kind: 'failed' });
    });
  }

  answer(request: number, outcome: SubmitOutcome): void {
    this.#waiting.get(request)?.(outcome);
    this.#waiting.delete(request); // I1
  }

  /** The thread is gone: nothing is promised of what it held. */
  fail(): void {
    for (const request of [...this.#waiting.keys()]) this.answer(request, { kind: 'failed' });
  }
}
