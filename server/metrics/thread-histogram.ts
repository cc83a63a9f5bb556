import type { HistogramSnapshot } from '../../actors/histogram.js';
import type { HistogramMetric, MetricsSource } from './metric.js';

/**
 * A histogram added up from those of the threads, which count from their own start: what a replaced one shows is all new.
 * Its text is written here: prom-client's histogram takes values one by one, and threads report counts by bucket.
 */
export class ThreadHistogram {
  readonly #metric: HistogramMetric;
  readonly #source: MetricsSource;
  /** By thread and name. */
  readonly #seen = new Map<string, HistogramSnapshot>();
  /** By name. */
  readonly #total = new Map<string, HistogramSnapshot>();

  constructor(metric: HistogramMetric, source: MetricsSource) {
    this.#metric = metric;
    this.#source = source;
  }

  /** Its lines in Prometheus' text format. */
  text(): string {
    this.#addNew();
    const { name, meaning } = this.#metric;
    const lines = [...this.#total].flatMap(([value, snapshot]) => this.#series(value, snapshot));
    return [`# HELP ${name} ${meaning}`, `# TYPE ${name} histogram`, ...lines, ''].join('\n');
  }

  #addNew(): void {
    this.#metric.read(this.#source).forEach((snapshots, thread) => {
      for (const [value, snapshot] of Object.entries(snapshots)) {
        const seen = this.#seen.get(`${thread} ${value}`);
        this.#seen.set(`${thread} ${value}`, snapshot);
        const counted = seen && continues(seen, snapshot) ? seen : undefined;
        const total = this.#total.get(value);
        this.#total.set(value, {
          counts: snapshot.counts.map((count, i) => (total?.counts[i] ?? 0) + count - (counted?.counts[i] ?? 0)),
          sum: (total?.sum ?? 0) + snapshot.sum - (counted?.sum ?? 0),
        });
      }
    });
  }

  #series(value: string, { counts, sum }: HistogramSnapshot): string[] {
    const { name, bounds } = this.#metric;
    const own = Object.entries(this.#metric.labelsOf(value)).map(([label, of]) => `${label}="${of}"`);
    const series = (suffix: string, pairs: string[]) =>
      `${name}_${suffix}${pairs.length > 0 ? `{${pairs.join(',')}}` : ''}`;
    let below = 0;
    const buckets = counts.map((count, i) => {
      below += count;
      return `${series('bucket', [...own, `le="${bounds[i] ?? '+Inf'}"`])} ${below}`;
    });
    return [...buckets, `${series('sum', own)} ${sum}`, `${series('count', own)} ${below}`];
  }
}

/** False when the thread was replaced between the two. */
function continues(before: HistogramSnapshot, now: HistogramSnapshot): boolean {
  return now.sum >= before.sum && now.counts.every((count, i) => count >= (before.counts[i] ?? 0));
}
