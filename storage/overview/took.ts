/** Upper bounds of the buckets in which the time from an operation's acceptance to its end is counted; above the last is one more. */
export const TOOK_ms = [
  5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 300_000, 1_000_000, 3_600_000,
  43_200_000,
] as const;

export const noTimes = (): number[] => new Array<number>(TOOK_ms.length + 1).fill(0);

export function bucketOf(took_ms: number): number {
  const bucket = TOOK_ms.findIndex((bound) => took_ms <= bound);
  return bucket < 0 ? TOOK_ms.length : bucket;
}

/** The time within which this part of them ended, as exact as the buckets are; null without any. */
export function quantile_ms(counts: readonly number[], part: number): number | null {
  const all = counts.reduce((sum, count) => sum + count, 0);
  if (all === 0) return null;
  let below = 0;
  for (const [i, count] of counts.entries()) {
    if (count > 0 && below + count >= part * all) {
      const from = TOOK_ms[i - 1] ?? 0;
      const to = TOOK_ms[i] ?? from;
      return Math.round(from + ((part * all - below) / count) * (to - from));
    }
    below += count;
  }
  return TOOK_ms.at(-1) as number;
}
