/** What several rounds of the same measurement gave: a figure alone does not tell how far it can be trusted. */
export interface Spread {
  median: number;
  min: number;
  max: number;
  rounds: number[];
}

/** Throws when there is no round. */
export function spreadOf(rounds: number[]): Spread {
  if (rounds.length === 0) throw new Error('nothing was measured');
  return { median: median(rounds), min: Math.min(...rounds), max: Math.max(...rounds), rounds };
}

/** Of an even number the mean of the two in the middle; 0 of none. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (place: number) => sorted[place] ?? 0;
  return (at(Math.floor((sorted.length - 1) / 2)) + at(Math.floor(sorted.length / 2))) / 2;
}

/** The value among these that a share `q` of them does not exceed; 0 of none. */
export function quantile(values: readonly number[], q: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? 0;
}
