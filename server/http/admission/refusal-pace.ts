import { setTimeout as delay } from 'node:timers/promises';
import { LIMITS } from '../limits.js';
import type { RequestScheduler } from './request-scheduler.js';

/**
 * Holds back the refusals of those whom nothing else slows down (HTTP-13): strangers, and clients that come again at once when there
 * was no room for them. The later this node is, the longer: who waits for the answer asks that much less, and the time goes to those
 * who may have it. A held refusal costs a timer and its connection.
 */
export class RefusalPace {
  readonly #pace: Pick<RequestScheduler, 'late_ms'>;

  constructor(pace: Pick<RequestScheduler, 'late_ms'>) {
    this.#pace = pace;
  }

  /** Resolves when the refusal may be sent; undefined: at once. */
  hold(): Promise<void> | undefined {
    const { late_ms } = this.#pace;
    if (late_ms < LIMITS.held_late_ms) return undefined;
    return delay(Math.min(late_ms * LIMITS.held_for_late, LIMITS.held_ms));
  }
}
