import { setTimeout as delay } from 'node:timers/promises';
import { isRefusedForNow, isUnreachable } from '../storage/postgres/liveness.js';
import { Backoff } from '../storage/process/backoff.js';
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

/**
 * Calls a step of a start until the database has answered it: what it loses to an outage, or to a server that has no time for it, is tried
 * again for LIMITS.start_outage_ms (STO-9). The step must be one that may be repeated. `over` ends the attempts sooner. Rejects with the
 * step's last error.
 */
export function throughOutages<T>(step: () => Promise<T>, over: () => boolean = () => false): Promise<T> {
  const until = performance.now() + LIMITS.start_outage_ms;
  return retrying(step, (error) => {
    const passes = isUnreachable(error) || isRefusedForNow(error);
    if (!passes || over() || performance.now() > until) throw error;
  });
}
