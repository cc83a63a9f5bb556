import { LIMITS } from '../limits.js';
import type { SubmitOutcome } from '../system.js';

/**
 * The submissions that one thread was sent and has not answered.
 *
 * Invariants: I1 each is answered once; I2 their number is bounded, and so are the bytes of their inputs, which they hold on their way
 * through the thread, and the wait that they mean for the next one: what is
 * sent several times more than can be stored is refused at once, not after its turn.
 */
export class PendingSubmissions {
  readonly #waiting = new Map<number, { bytes: number; resolve: (outcome: SubmitOutcome) => void }>();
  #next = 0;
  #bytes = 0;
  /** Answers a second while some wait all the time; unknown until a measurement was made. */
  #perSecond = Number.POSITIVE_INFINITY;
  #measuredSince = 0;
  #answered = 0;

  /** Sends a submission, whose input has so many bytes, under a number of its own and resolves with its outcome; `failed` when `send` gives false. */
  add(send: (request: number) => boolean, bytes = 0): Promise<SubmitOutcome> {
    if (this.full || this.#bytes + bytes > LIMITS.submissions_bytes)
      return Promise.resolve({ kind: 'overloaded', what: 'node' }); // I2
    const request = this.#next++;
    return new Promise((resolve) => {
      this.#waiting.set(request, { bytes, resolve });
      this.#bytes += bytes;
      if (!send(request)) this.answer(request, { kind: 'failed' });
    });
  }

  answer(request: number, outcome: SubmitOutcome): void {
    const waiting = this.#waiting.get(request);
    if (!waiting) return; // I1
    this.#waiting.delete(request);
    this.#bytes -= waiting.bytes;
    this.#answered++;
    waiting.resolve(outcome);
  }

  /** True when the next one is refused (I2). */
  get full(): boolean {
    const { size } = this.#waiting;
    this.#measure(size === 0);
    if (size < LIMITS.committer_batch_submissions) return false; // one statement stores them all
    return size >= LIMITS.committer_submissions || (size / this.#perSecond) * 1000 > LIMITS.submission_wait_ms;
  }

  /** Begins a new measurement when nothing waited, or when answers came for long enough; none for too long is a rate of 0. */
  #measure(idle: boolean): void {
    const now = performance.now();
    const elapsed_ms = now - this.#measuredSince;
    if (!idle) {
      const enough_ms = this.#answered > 0 ? LIMITS.submission_rate_ms : LIMITS.submission_wait_ms;
      if (elapsed_ms < enough_ms) return;
      this.#perSecond = (this.#answered / elapsed_ms) * 1000;
      if (this.#answered === 0) return; // what comes at last is counted over all of that time
    }
    this.#measuredSince = now;
    this.#answered = 0;
  }

  /** The thread is gone: nothing is promised of what it held. */
  fail(): void {
    for (const request of [...this.#waiting.keys()]) this.answer(request, { kind: 'failed' });
  }
}
