import { setTimeout as delay } from 'node:timers/promises';
import { Backoff } from '../storage/backoff.js';
import { LIMITS } from './limits.js';

/** The waits of a thread that tries something again. They have jitter, because a lost database fails all connections at once. */
export const retryWaits = (): Backoff =>
  new Backoff({ first_ms: LIMITS.retry_ms, cap_ms: LIMITS.retry_cap_ms, jitter: true });

/**
 * Calls `ask` until it resolves, and resolves with what it gave. `failed` gets each error, to log it; what `failed` throws
 * ends the attempts and rejects.
 */
export async function retrying<T>(ask: () => Promise<T>, failed: (error: unknown) => void): Promise<T> {
  const waits = retryWaits();
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      failed(error);
      await delay(waits.next_ms());
    }
  }
}
