import { Counter, type Registry } from 'prom-client';
import type { CounterMetric, MetricsSource } from './metric.js';

/**
 * Registers a counter of what the threads counted. A thread counts from its own start, so one that was replaced begins
 * at zero again: all it shows then is new, and the counter never goes back.
 */
export function registerThreadCounter(registry: Registry, metric: CounterMetric, source: MetricsSource): void {
  const seen = new Map<string, number>();
  new Counter({
    name: metric.name,
    help: metric.meaning,
    labelNames: metric.labels,
    registers: [registry],
    collect() {
      metric.read(source).forEach((counts, thread) => {
        for (const [counted, count] of Object.entries(counts)) {
          const before = seen.get(`${thread} ${counted}`) ?? 0;
          seen.set(`${thread} ${counted}`, count);
          this.inc(metric.labelsOf(counted), count >= before ? count - before : count);
        }
      });
    },
  });
}
