/** A histogram as plain data: `counts[i]` values are above `bounds[i - 1]` and at most `bounds[i]`; the last count is of those above all bounds. */
export interface HistogramSnapshot {
  counts: number[];
  sum: number;
}

/** Counts values into buckets, in constant memory. */
export class Histogram {
  readonly #bounds: readonly number[];
  readonly #counts: number[];
  #sum = 0;

  /** `bounds` ascend. */
  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = new Array(bounds.length + 1).fill(0);
  }

  observe(value: number): void {
    const above = this.#bounds.findIndex((bound) => value <= bound);
    const bucket = above === -1 ? this.#bounds.length : above;
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    this.#sum += value;
  }

  snapshot(): HistogramSnapshot {
    return { counts: [...this.#counts], sum: this.#sum };
  }
}
