import { median } from './spread.js';

/** Whether what is measured again and again stays level. Pure: the chaos checker and the soak judge by the same. */
export interface Point {
  /** In any unit; growth is in the same. */
  at: number;
  value: number;
}

/** The samples of the second half of the time; the first is for warming up. */
export function secondHalf<Sample extends { at: number }>(samples: readonly Sample[]): Sample[] {
  const sorted = samples.toSorted((a, b) => a.at - b.at);
  const from = ((sorted[0]?.at ?? 0) + (sorted.at(-1)?.at ?? 0)) / 2;
  return sorted.filter(({ at }) => at >= from);
}

/** Of many samples so many, picked evenly; all of fewer. */
export function picked<Sample>(samples: readonly Sample[], most: number): Sample[] {
  const step = Math.max(1, samples.length / most);
  return Array.from({ length: Math.floor(samples.length / step) }, (_, i) => samples[Math.floor(i * step)]!);
}

/** The median of the slopes between all pairs (Theil and Sen): no single spike, and no fall after a collection, moves it. */
export function slopeOf(points: readonly Point[]): number {
  const slopes: number[] = [];
  for (const [i, a] of points.entries()) {
    for (const b of points.slice(i + 1)) if (b.at > a.at) slopes.push((b.value - a.value) / (b.at - a.at));
  }
  return median(slopes);
}
