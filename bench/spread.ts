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
  const sorted = rounds.toSorted((a, b) => a - b);
  const at = (place: number) => sorted[place] ?? 0;
  const median = (at(Math.floor((sorted.length - 1) / 2)) + at(Math.floor(sorted.length / 2))) / 2;
  return { median, min: at(0), max: at(sorted.length - 1), rounds };
}
