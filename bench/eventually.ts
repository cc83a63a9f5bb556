import { setTimeout as delay } from 'node:timers/promises';
import { inspect } from 'node:util';
import { Backoff } from '../storage/backoff.js';

/**
 * Calls `ask` until `holds` accepts its value, and gives that value. Use it where no signal can be awaited. Throws an error
 * with `what` and the last value after `timeout_ms`, also while a call is still under way, and whatever `ask` or `holds`
 * throws.
 */
export async function eventually<T>(
  what: string,
  ask: () => T | Promise<T>,
  holds: (value: T) => boolean,
  timeout_ms = 30_000,
): Promise<T> {
  const answer = await askUntil(ask, holds, timeout_ms);
  if (answer.held) return answer.last;
  const seen = 'last' in answer ? `last: ${inspect(answer.last, { depth: 4, breakLength: 120 })}` : 'no answer';
  throw new Error(`not within ${timeout_ms} ms: ${what} (${seen})`);
}

const EXPIRED = Symbol('expired');

/**
 * Calls `ask` until `holds` accepts its value, or `timeout_ms` have passed, and gives the last value. Between two calls it
 * pauses for 5 ms, then longer, up to 100 ms.
 */
export async function askUntil<T>(
  ask: () => T | Promise<T>,
  holds: (value: T) => boolean,
  timeout_ms: number,
): Promise<{ held: true; last: T } | { held: false; last?: T }> {
  const pauses = new Backoff({ first_ms: 5, cap_ms: 100 });
  const timer = new AbortController();
  const expired = delay(timeout_ms, EXPIRED, { signal: timer.signal });
  expired.catch(() => {}); // aborted below
  let answer: { held: false; last?: T } = { held: false };
  try {
    for (;;) {
      const value = await Promise.race([ask(), expired]);
      if (value === EXPIRED) return answer;
      const last = value as T;
      if (holds(last)) return { held: true, last };
      answer = { held: false, last };
      if ((await Promise.race([delay(pauses.next_ms()), expired])) === EXPIRED) return answer;
    }
  } finally {
    timer.abort();
  }
}
