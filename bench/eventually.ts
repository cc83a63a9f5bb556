import { setTimeout as delay } from 'node:timers/promises';
import { inspect } from 'node:util';
import { Backoff } from '../storage/backoff.js';

const EXPIRED = Symbol('expired');
const NOTHING = Symbol('no answer');

/**
 * Calls `ask` until `holds` accepts its value, and gives that value. Between two calls it pauses for 5 ms, then longer, up
 * to 100 ms. Throws an error with `what` and the last value after `timeout_ms`, also while a call is still under way, and
 * whatever `ask` or `holds` throws. Use it where no signal can be awaited.
 */
export async function eventually<T>(
  what: string,
  ask: () => T | Promise<T>,
  holds: (value: T) => boolean,
  timeout_ms = 30_000,
): Promise<T> {
  const pauses = new Backoff({ first_ms: 5, cap_ms: 100 });
  const timer = new AbortController();
  const expired = delay(timeout_ms, EXPIRED, { signal: timer.signal });
  expired.catch(() => {}); // aborted below
  let last: T | typeof NOTHING = NOTHING;
  try {
    for (;;) {
      const value = await Promise.race([ask(), expired]);
      if (value === EXPIRED) break;
      if (holds(value as T)) return value as T;
      last = value as T;
      if ((await Promise.race([delay(pauses.next_ms()), expired])) === EXPIRED) break;
    }
  } finally {
    timer.abort();
  }
  const seen = last === NOTHING ? 'no answer' : `last: ${inspect(last, { depth: 4, breakLength: 120 })}`;
  throw new Error(`not within ${timeout_ms} ms: ${what} (${seen})`);
}
