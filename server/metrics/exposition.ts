import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { OBSERVED_METRICS, THREAD_METRICS } from './catalogue.js';
import type { MetricsSource, ObservedMetric } from './metric.js';
import { type AnsweredRequest, requestLabels } from './request-metric.js';
import { registerThreadCounter } from './thread-counter.js';
import { ThreadHistogram } from './thread-histogram.js';

/** The metrics of one node as Prometheus reads them. */
export interface Exposition {
  contentType: string;
  observe(request: AnsweredRequest): void;
  /** All metrics as they are now. */
  text(): Promise<string>;
}

/** Registers every metric over `source`, which is read at each scrape. */
export function expose(source: MetricsSource): Exposition {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const requests = observed(registry, OBSERVED_METRICS.requests);
  const longPolls = observed(registry, OBSERVED_METRICS.longPolls);
  const histograms = registerThreadMetrics(registry, source);
  return {
    contentType: registry.contentType,
    observe(request) {
      const histogram = request.longPoll ? longPolls : requests;
      histogram.observe(requestLabels(request), request.seconds);
    },
    async text() {
      // All read their values in this tick: what threads report in a later one would show in one metric and not in another.
      const registered = registry.metrics();
      const own = histograms.map((one) => one.text());
      return [await registered, ...own].join('\n');
    },
  };
}

function observed(registry: Registry, { name, meaning, labels, bounds }: ObservedMetric): Histogram {
  return new Histogram({ name, help: meaning, labelNames: labels, buckets: [...bounds], registers: [registry] });
}

/** Returns the histograms, whose text follows the registry's. */
function registerThreadMetrics(registry: Registry, source: MetricsSource): ThreadHistogram[] {
  return THREAD_METRICS.flatMap((metric) => {
    switch (metric.type) {
      case 'gauge':
        new Gauge({
          name: metric.name,
          help: metric.meaning,
          labelNames: metric.labels,
          registers: [registry],
          async collect() {
            for (const { labels, value } of await metric.read(source)) this.set(labels, value);
          },
        });
        return [];
      case 'counter':
        registerThreadCounter(registry, metric, source);
        return [];
      case 'histogram':
        return [new ThreadHistogram(metric, source)];
      default:
        return metric satisfies never;
    }
  });
}
