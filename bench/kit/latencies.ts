import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';

export interface Latency {
  count: number;
  p50_ms: number;
  p99_ms: number;
  max_ms: number;
}

export const NO_LATENCY: Latency = { count: 0, p50_ms: 0, p99_ms: 0, max_ms: 0 };

/** What share of the durations, from 0 to 1, does not exceed so many milliseconds. */
export type Distribution = [share: number, ms: number][];

/** Durations of any number of requests in a memory that does not grow with them. */
export class Latencies {
  /** In microseconds. */
  readonly #histogram: RecordableHistogram = createHistogram();

  record(duration_ms: number): void {
    this.#histogram.record(Math.max(1, Math.round(duration_ms * 1_000)));
  }

  get summary(): Latency {
    const { count, max } = this.#histogram;
    if (count === 0) return NO_LATENCY;
    const at = (percentile: number) => this.#histogram.percentile(percentile) / 1_000;
    return { count, p50_ms: at(50), p99_ms: at(99), max_ms: max / 1_000 };
  }

  get distribution(): Distribution {
    if (this.#histogram.count === 0) return [];
    return [...this.#histogram.percentiles].map(([percentile, us]) => [percentile / 100, us / 1_000]);
  }
}
