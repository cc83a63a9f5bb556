import { Gauge, type Registry } from 'prom-client';
import { HISTOGRAM_BOUNDS } from '../../actors/deliveries/counters.js';
import type { ThreadDeliveryStats } from '../../actors/deliveries/deliveries.js';
import { ThreadHistogram, threadCounter } from './thread-counts.js';

/**
 * What the deliveries of this node do, out of what its threads last told. Registers all but the histograms, which it gives:
 * their text follows the registry's. Labels are outcomes and classes of errors, whoever subscribes to whatever.
 */
export function deliveryMetrics(registry: Registry, read: () => ThreadDeliveryStats[]): ThreadHistogram[] {
  const gauge = (name: string, help: string, value: (threads: ThreadDeliveryStats[]) => number) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(value(read()));
      },
    });
  const sum = (count: (thread: ThreadDeliveryStats) => number) => (threads: ThreadDeliveryStats[]) =>
    threads.reduce((total, thread) => total + count(thread), 0);

  gauge(
    'deliveries_in_flight',
    'Callback attempts under way',
    sum((thread) => thread.in_flight),
  );
  gauge(
    'subscriptions_waiting',
    'Subscriptions whose next callback waits for a free place',
    sum((thread) => thread.waiting),
  );
  gauge(
    'delivery_oldest_pending_seconds',
    'Age of the oldest delivery that has not ended, in the partitions of this node',
    (threads) => Math.max(0, ...threads.map((thread) => thread.oldest_pending_s)),
  );
  threadCounter(
    registry,
    {
      name: 'delivery_attempts_total',
      help: 'Callback attempts that ended, by outcome and class of error',
      labelNames: ['outcome', 'error'],
      labels: (counted) =>
        counted === 'delivered' ? { outcome: 'delivered', error: 'none' } : { outcome: 'failed', error: counted },
    },
    () => read().map((thread) => thread.attempts),
  );
  return [
    new ThreadHistogram({
      name: 'delivery_attempt_duration_seconds',
      help: 'Callback attempts by outcome, from the name lookup to the end of the answer',
      label: 'outcome',
      bounds: HISTOGRAM_BOUNDS.attempt_s,
      read: () => read().map((thread) => thread.attempt_s),
    }),
    new ThreadHistogram({
      name: 'delivery_latency_seconds',
      help: 'From the receipt of an event to the 2xx of its receiver, replays included',
      bounds: HISTOGRAM_BOUNDS.latency_s,
      read: () => read().map((thread) => ({ '': thread.latency_s })),
    }),
  ];
}
