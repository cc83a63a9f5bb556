import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';
import type { Latency } from './messages.js';

/** Durations of any number of requests in a memory that does not grow with them. */
export class Latencies {
  /** In microseconds. */
  readonly #histogram: RecordableHistogram = createHistogram();

  record(duration_ms: number): void {
    this.#histogram.record(Math.max(1, Math.round(duration_ms * 1_000)));
  }

  get summary(): Latency {
    const { count, max } = this.#histogram;
    if (count === 0) return { count, p50_ms: 0, p99_ms: 0, max_ms: 0 };
    const at = (percentile: number) => this.#histogram.percentile(percentile) / 1_000;
    return { count, p50_ms: at(50), p99_ms: at(99), max_ms: max / 1_000 };
  }
}
