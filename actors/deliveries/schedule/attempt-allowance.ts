import type { AttemptResult } from '../callback/sender.js';
import { LIMITS } from '../limits.js';

/**
 * How many attempts one subscription may have in flight, learned from how its receiver answers:
 *
 *     fast ──an attempt timed out, or took too long──▶ slow ──answers in time brought the allowance back──▶ fast
 *
 * I1 the allowance is between one and `subscription_attempts`: an answer in time adds one, a slow one halves it. It begins with
 *    `new_subscription_attempts`, so that a dead receiver holds few slots before its first timeout.
 * I2 a refusal is an answer in time: it frees its slot at once.
 */
export class AttemptAllowance {
  #speed: 'fast' | 'slow' = 'fast';
  #attempts: number = LIMITS.new_subscription_attempts;

  get attempts(): number {
    return this.#attempts;
  }

  get slow(): boolean {
    return this.#speed === 'slow';
  }

  /** Learns from an attempt that ended. */
  learn({ error, duration_ms }: AttemptResult): void {
    if (error === 'timeout' || duration_ms > LIMITS.slow_attempt_ms) {
      this.#speed = 'slow';
      this.#attempts = Math.max(1, Math.floor(this.#attempts / 2)); // I1
      return;
    }
    this.#attempts = Math.min(LIMITS.subscription_attempts, this.#attempts + 1); // I1, I2
    if (this.#attempts === LIMITS.subscription_attempts) this.#speed = 'fast';
  }
}
