import { setTimeout as delay } from 'node:timers/promises';
import { inspect } from 'node:util';
import { Backoff } from '../../storage/process/backoff.js';

/**
 * When to give up. `looks`: after so many, which takes a slow machine longer; a look that never ends is left to whoever waits. `ms`: after so
 * much time, also while a look is under way, for what measures a real outage.
 */
export type Patience = { looks: number } | { ms: number };

/**
 * Calls `ask` until `holds` accepts its value, and gives that value. Use it where no signal can be awaited. Throws an error
 * with `what` and the last value when its patience is over, and whatever `ask` or `holds` throws.
 */
export async function eventually<T>(
  what: string,
  ask: () => T | Promise<T>,
  holds: (value: T) => boolean,
  patience: Patience,
): Promise<T> {
  const answer = await askUntil(ask, holds, patience);
  if (answer.held) return answer.last;
  const seen = 'last' in answer ? `last: ${inspect(answer.last, { depth: 4, breakLength: 120 })}` : 'no answer';
  const over = 'ms' in patience ? `${patience.ms} ms` : `${patience.looks} looks`;
  throw new Error(`not within ${over}: ${what} (${seen})`);
}

const EXPIRED = Symbol('expired');

/**
 * Calls `ask` until `holds` accepts its value or the patience is over, and gives the last value. Between two calls it
 * pauses for 5 ms, then longer, up to 100 ms.
 */
export async function askUntil<T>(
  ask: () => T | Promise<T>,
  holds: (value: T) => boolean,
  patience: Patience,
): Promise<{ held: true; last: T } | { held: false; last?: T }> {
  const pauses = new Backoff({ first_ms: 5, cap_ms: 100 });
  const timer = new AbortController();
  const { looks, ms } = { looks: Number.POSITIVE_INFINITY, ms: undefined, ...patience };
  const expired =
    ms === undefined ? new Promise<typeof EXPIRED>(() => {}) : delay(ms, EXPIRED, { signal: timer.signal });
  expired.catch(() => {}); // aborted below
  let answer: { held: false; last?: T } = { held: false };
  try {
    for (let look = 0; look < looks; look++) {
      const value = await Promise.race([ask(), expired]);
      if (value === EXPIRED) return answer;
      const last = value as T;
      if (holds(last)) return { held: true, last };
      answer = { held: false, last };
      if ((await Promise.race([delay(pauses.next_ms()), expired])) === EXPIRED) return answer;
    }
    return answer;
  } finally {
    timer.abort();
  }
}
