import { Counter, type Registry } from 'prom-client';
import type { HistogramSnapshot } from '../../actors/deliveries/histogram.js';

/*
 * Metrics out of the counts of several threads. A thread counts from its own start, so one that was replaced begins at zero
 * again: what it shows then is all new, and nothing that was shown is taken back.
 */

/** A counter of what the threads counted by name; `labels` says what a name stands for. */
export function threadCounter(
  registry: Registry,
  metric: { name: string; help: string; labelNames: string[]; labels: (counted: string) => Record<string, string> },
  read: () => Record<string, number>[],
): void {
  const { name, help, labelNames, labels } = metric;
  const seen = new Map<string, number>();
  new Counter({
    name,
    help,
    labelNames,
    registers: [registry],
    collect() {
      read().forEach((counts, thread) => {
        for (const [counted, count] of Object.entries(counts)) {
          const before = seen.get(`${thread} ${counted}`) ?? 0;
          seen.set(`${thread} ${counted}`, count);
          this.inc(labels(counted), count >= before ? count - before : count);
        }
      });
    },
  });
}

export interface ThreadHistogramOptions {
  name: string;
  help: string;
  /** The one label, when there is one. */
  label?: string;
  /** Ascending; the threads count within them. */
  bounds: readonly number[];
  /** What each thread counted since its start, by the label's value. */
  read: () => Record<string, HistogramSnapshot>[];
}

/** A histogram. Its text is written here: prom-client's takes its values one by one, and threads tell how they are spread. */
export class ThreadHistogram {
  readonly #seen = new Map<string, HistogramSnapshot>();
  readonly #total = new Map<string, HistogramSnapshot>();

  constructor(private readonly options: ThreadHistogramOptions) {}

  /** Its lines in Prometheus' text format. */
  text(): string {
    this.#add();
    const { name, help } = this.options;
    const lines = [...this.#total].flatMap(([value, spread]) => this.#series(value, spread));
    return [`# HELP ${name} ${help}`, `# TYPE ${name} histogram`, ...lines, ''].join('\n');
  }

  #add(): void {
    this.options.read().forEach((spreads, thread) => {
      for (const [value, spread] of Object.entries(spreads)) {
        const seen = this.#seen.get(`${thread} ${value}`);
        this.#seen.set(`${thread} ${value}`, spread);
        const known = seen && goesOn(seen, spread) ? seen : undefined;
        const total = this.#total.get(value);
        this.#total.set(value, {
          counts: spread.counts.map((count, i) => (total?.counts[i] ?? 0) + count - (known?.counts[i] ?? 0)),
          sum: (total?.sum ?? 0) + spread.sum - (known?.sum ?? 0),
        });
      }
    });
  }

  #series(value: string, { counts, sum }: HistogramSnapshot): string[] {
    const { name, label, bounds } = this.options;
    const own = label === undefined ? [] : [`${label}="${value}"`];
    const series = (suffix: string, labels: string[]) =>
      `${name}_${suffix}${labels.length > 0 ? `{${labels.join(',')}}` : ''}`;
    let below = 0;
    const buckets = counts.map((count, i) => {
      below += count;
      return `${series('bucket', [...own, `le="${bounds[i] ?? '+Inf'}"`])} ${below}`;
    });
    return [...buckets, `${series('sum', own)} ${sum}`, `${series('count', own)} ${below}`];
  }
}

const goesOn = (before: HistogramSnapshot, now: HistogramSnapshot): boolean =>
  now.sum >= before.sum && now.counts.every((count, i) => count >= (before.counts[i] ?? 0));
