import { randomUUID } from 'node:crypto';
import { OperationError } from '../../storage/model/errors.js';
import { LIMITS } from '../limits.js';

/**
 * One challenge that waits for its code (OPS-10).
 *
 *     waiting ─┬─ answer ──▶ answered   `code` resolves
 *              ├─ expiry ──▶ over       `code` rejects with `challenge_expired`
 *              ├─ abort ───▶ over       `code` rejects with the signal's reason
 *              └─ close ───▶ over       `code` stays pending
 *
 * Invariants: I1 its timer and its listener last as long as *waiting*; I2 one answer counts, the first one.
 */
export class PendingChallenge {
  readonly id = randomUUID();
  /** The code, once it is answered. */
  readonly code: Promise<string>;
  readonly #settle: PromiseWithResolvers<string>;
  readonly #signal: AbortSignal;
  #state: { kind: 'waiting'; expiry: NodeJS.Timeout } | { kind: 'over' };

  /** Waits until `signal` aborts, at most `LIMITS.challenge_ms`. */
  constructor(signal: AbortSignal) {
    this.#signal = signal;
    this.#settle = Promise.withResolvers();
    this.code = this.#settle.promise;
    this.code.catch(() => {}); // an abort may come before the code is awaited
    const expired = () => this.#end(() => this.#settle.reject(new OperationError('challenge_expired')));
    this.#state = { kind: 'waiting', expiry: setTimeout(expired, LIMITS.challenge_ms) };
    signal.addEventListener('abort', this.#aborted);
  }

  /** False when this challenge has another id or no longer waits (I2). */
  answer(challengeId: string, code: string): boolean {
    return challengeId === this.id && this.#end(() => this.#settle.resolve(code));
  }

  /** Stops waiting. */
  close(): void {
    this.#end(() => {});
  }

  readonly #aborted = (): void => {
    this.#end(() => this.#settle.reject(this.#signal.reason));
  };

  /** The one step there is. False when it was taken before. */
  #end(settle: () => void): boolean {
    if (this.#state.kind === 'over') return false;
    clearTimeout(this.#state.expiry); // I1
    this.#signal.removeEventListener('abort', this.#aborted);
    this.#state = { kind: 'over' };
    settle();
    return true;
  }
}
