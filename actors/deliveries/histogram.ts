/** How values are spread, as plain data: `counts[i]` of them are at most `bounds[i]` and above the bound before, the last are above all. */
export interface HistogramSnapshot {
  counts: number[];
  sum: number;
}

/** Counts values into buckets; costs the same whatever is observed, and grows with nothing. */
export class Histogram {
  readonly #counts: number[];
  #sum = 0;

  /** `bounds` ascend. */
  constructor(private readonly bounds: readonly number[]) {
    this.#counts = new Array(bounds.length + 1).fill(0);
  }

  observe(value: number): void {
    const above = this.bounds.findIndex((bound) => value <= bound);
    const bucket = above === -1 ? this.bounds.length : above;
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    this.#sum += value;
  }

  spread(): HistogramSnapshot {
    return { counts: [...this.#counts], sum: this.#sum };
  }
}
