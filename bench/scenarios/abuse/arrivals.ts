import { setTimeout as delay } from 'node:timers/promises';

/**
 * Begins `work` so many times a second for so many seconds, however long it takes: an open arrival. `work` gets the time at which it
 * was due (`performance.now()`), from which its latency is to be measured, so that what waits behind a stall counts as waiting.
 * Resolves when all of it has ended.
 */
export async function arrivals(
  perSecond: number,
  seconds: number,
  work: (dueAt: number) => Promise<void>,
): Promise<void> {
  const startedAt = performance.now();
  const all = Math.round(perSecond * seconds);
  const begun: Promise<void>[] = [];
  for (let number = 0; number < all; number++) {
    const dueAt = startedAt + (number * 1_000) / perSecond;
    const early_ms = dueAt - performance.now();
    if (early_ms > 0) await delay(early_ms);
    begun.push(work(dueAt));
  }
  await Promise.all(begun);
}
