import { randomUUID } from 'node:crypto';
import { OperationError } from '../../../storage/model/errors.js';
import { checkStep, type Steps } from '../../../storage/process/steps.js';
import { LIMITS } from '../../limits.js';
import type { GivenCode } from '../../system.js';

/** How long a challenge waits. */
export interface ChallengeWait {
  /** Until its row is asked for the first time. */
  first_ms: number;
  /** Milliseconds that it still waits by its row, 0 when it is over; undefined when the row does not wait for it yet. */
  left: () => Promise<number | undefined>;
}

type State =
  | { kind: 'waiting'; answer: PromiseWithResolvers<GivenCode>; look: NodeJS.Timeout }
  | { kind: 'answered' | 'over' };

const STEPS: Steps<State['kind']> = {
  waiting: ['waiting', 'answered', 'over'],
  answered: ['waiting', 'over'],
  over: [],
};

/**
 * One challenge that waits for its code (OPS-10).
 *
 *     waiting ─┬─ answer ──▶ answered   `code` resolves ── reopen: the row knows the answer no more ──▶ waiting
 *              ├─ expiry ──▶ over       `code` rejects with `challenge_expired`
 *              ├─ abort ───▶ over       `code` rejects with the signal's reason
 *              └─ close ───▶ over       `code` stays pending; so from answered
 *
 * Invariants:
 * I1 its timer lasts as long as *waiting*, its listener until *over*;
 * I2 the first answer to one wait counts, and no other;
 * I3 its row alone says when it is over: a code that the row was marked for before that is still on its way, and counts.
 */
export class PendingChallenge {
  readonly id = randomUUID();
  readonly #signal: AbortSignal;
  readonly #left: ChallengeWait['left'];
  #code: Promise<GivenCode>;
  #state: State;

  /** Waits until `signal` aborts, or the row says that it is over. */
  constructor(signal: AbortSignal, { first_ms, left }: ChallengeWait) {
    this.#signal = signal;
    this.#left = left;
    const state = this.#waiting(first_ms);
    this.#state = state;
    this.#code = state.answer.promise;
    signal.addEventListener('abort', this.#aborted);
  }

  /** The code, once it is answered. */
  get code(): Promise<GivenCode> {
    return this.#code;
  }

  /** False when this challenge has another id or does not wait (I2). */
  answer(given: GivenCode): boolean {
    const state = this.#state;
    if (given.challengeId !== this.id || state.kind !== 'waiting') return false;
    this.#enter({ kind: 'answered' });
    state.answer.resolve(given);
    return true;
  }

  /** The row's answer is another one, or none: waits for the next. Does nothing when it is over. */
  reopen(): void {
    if (this.#state.kind !== 'answered') return;
    const state = this.#waiting(0);
    this.#enter(state);
    this.#code = state.answer.promise;
  }

  /** Stops waiting. */
  close(): void {
    if (this.#state.kind !== 'over') this.#enter({ kind: 'over' });
  }

  readonly #aborted = (): void => this.#fail(this.#signal.reason);

  #fail(reason: unknown): void {
    const state = this.#state;
    this.close();
    if (state.kind === 'waiting') state.answer.reject(reason);
  }

  #waiting(first_ms: number): Extract<State, { kind: 'waiting' }> {
    const answer = Promise.withResolvers<GivenCode>();
    answer.promise.catch(() => {}); // an abort may come before the code is awaited
    return { kind: 'waiting', answer, look: this.#lookIn(first_ms) };
  }

  #lookIn(wait_ms: number): NodeJS.Timeout {
    return setTimeout(() => void this.#look(), wait_ms);
  }

  /** I3. While the row does not answer, nothing is over. */
  async #look(): Promise<void> {
    const state = this.#state;
    const left_ms = await this.#left().catch(() => undefined);
    if (state.kind !== 'waiting' || this.#state !== state) return;
    if (left_ms === 0) this.#fail(new OperationError('challenge_expired'));
    else this.#enter({ ...state, look: this.#lookIn(left_ms ?? LIMITS.retry_cap_ms) });
  }

  #enter(next: State): void {
    const state = this.#state;
    checkStep('a challenge', STEPS, state.kind, next.kind);
    if (state.kind === 'waiting') clearTimeout(state.look); // I1
    if (next.kind === 'over') this.#signal.removeEventListener('abort', this.#aborted); // I1
    this.#state = next;
  }
}
