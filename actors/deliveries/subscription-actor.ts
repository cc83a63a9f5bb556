import { FIRST_attempts, SLOW_ATTEMPT_ms, SUBSCRIPTION_attempts } from './limits.js';
import type { AttemptResult } from './sender.js';

/**
 * One subscription that has deliveries to make, in one thread (EVT-10). It holds none of them: they are claimed one by one as
 * attempts may start, so its backlog costs nothing here, and nothing is put back when its receiver does not keep up.
 *
 *     asleep ──its job was fetched──▶ due ──a claim found nothing──▶ resting ──its job is put off or deleted──▶ asleep
 *                                      ▲                                │
 *                                      └──its job was fetched again─────┘
 *
 * And in any of them, by what its receiver does:
 *
 *     fast ──an attempt timed out, or nearly──▶ slow ──answers brought the allowance back──▶ fast
 *
 * I1 at most `allowance` attempts are in flight: one more for each answer in time up to `SUBSCRIPTION_attempts`, half for each slow one
 *    down to one. It begins with `FIRST_attempts`, so that a receiver nobody knows holds few slots if it is dead. A refusal is an
 *    answer: it frees its slot at once.
 * I2 a claim that found nothing counts only if nobody made it due since that claim was asked for.
 */
export class SubscriptionActor {
  #due = false;
  #calls = 0;
  #inFlight = 0;
  #writing = 0;
  #allowance = FIRST_attempts;
  #slow = false;
  #closed = false;
  #lost = false;

  constructor(
    readonly id: string,
    readonly partition: number,
    /** Of the partition, when it was taken. */
    readonly epoch: number,
  ) {}

  /** Its job was fetched: something of it is due. */
  call(): void {
    this.#calls++;
    this.#due = true;
  }

  get due(): boolean {
    return this.#due;
  }

  /** True when a further attempt may start. */
  get ready(): boolean {
    return this.#due && !this.#closed && this.#inFlight < this.#allowance;
  }

  get slow(): boolean {
    return this.#slow;
  }

  /** True while attempts of it are under way or their ends are being written. */
  get busy(): boolean {
    return this.#inFlight > 0 || this.#writing > 0;
  }

  /** True when it starts nothing more: its partition is given up, or lost. */
  get closed(): boolean {
    return this.#closed;
  }

  /** True when the partition is another's: nothing of it is sent any more. */
  get lost(): boolean {
    return this.#lost;
  }

  close(lost: boolean): void {
    this.#closed = true;
    this.#lost ||= lost;
  }

  /** An attempt of it counts as in flight from now until `ended`. Only while `ready`. Gives what `exhausted` is to be told. */
  begin(): number {
    this.#inFlight++;
    return this.#calls;
  }

  /** The claim that began with `calls` found nothing due. */
  exhausted(calls: number): void {
    if (calls === this.#calls) this.#due = false;
  }

  /** An attempt is over and its slot free; without a result, none was made. */
  ended(result: AttemptResult | undefined): void {
    this.#inFlight--;
    if (!result) return;
    if (result.error === 'timeout' || result.duration_ms > SLOW_ATTEMPT_ms) {
      this.#slow = true;
      this.#allowance = Math.max(1, Math.floor(this.#allowance / 2));
    } else {
      this.#allowance = Math.min(SUBSCRIPTION_attempts, this.#allowance + 1);
      if (this.#allowance === SUBSCRIPTION_attempts) this.#slow = false;
    }
  }

  /** The end of an attempt is being written, until the function given is called. */
  write(): () => void {
    this.#writing++;
    return () => {
      this.#writing--;
    };
  }
}
