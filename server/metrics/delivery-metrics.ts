import { ATTEMPT_ERRORS } from '../../actors/deliveries/attempt-error.js';
import { HISTOGRAM_BOUNDS } from '../../actors/deliveries/counters.js';
import type { ThreadDeliveryStats } from '../../actors/deliveries/deliveries.js';
import { gauge, type MetricsSource, sum, type ThreadMetric } from './metric.js';

const threads = (source: MetricsSource): ThreadDeliveryStats[] => source.stats().hosts.map((host) => host.deliveries);

/** What the deliveries of this node do. Labels are outcomes and classes of errors, whatever the subscription. */
export const DELIVERY_METRICS: readonly ThreadMetric[] = [
  gauge('deliveries_in_flight', 'Callback attempts under way', (source) =>
    sum(threads(source), (thread) => thread.in_flight),
  ),
  gauge('subscriptions_waiting', 'Subscriptions whose next callback waits for a free place', (source) =>
    sum(threads(source), (thread) => thread.waiting),
  ),
  gauge(
    'delivery_oldest_pending_seconds',
    'Age of the oldest delivery that has not ended, in the partitions of this node, since its event was received',
    (source) => Math.max(0, ...threads(source).map((thread) => thread.oldest_pending_s)),
  ),
  {
    name: 'delivery_attempts_total',
    type: 'counter',
    labels: ['outcome', 'error'],
    meaning: `Callback attempts that ended, by outcome and class of error: none, ${ATTEMPT_ERRORS.join(', ')}`,
    labelsOf: (counted) =>
      counted === 'delivered' ? { outcome: 'delivered', error: 'none' } : { outcome: 'failed', error: counted },
    read: (source) => threads(source).map((thread) => thread.attempts),
  },
  {
    name: 'delivery_repairs_total',
    type: 'counter',
    labels: ['what'],
    meaning: 'Deliveries found that nobody was working on, and made due again: fetched jobs, started attempts',
    labelsOf: (what) => ({ what }),
    read: (source) => threads(source).map((thread) => thread.repairs),
  },
  {
    name: 'delivery_attempt_duration_seconds',
    type: 'histogram',
    labels: ['outcome'],
    meaning: 'Callback attempts by outcome, from the name lookup to the end of the answer',
    bounds: HISTOGRAM_BOUNDS.attempt_s,
    read: (source) => threads(source).map((thread) => thread.attempt_s),
  },
  {
    name: 'delivery_latency_seconds',
    type: 'histogram',
    labels: [],
    meaning: 'From the receipt of an event to the 2xx of its receiver, replays included',
    bounds: HISTOGRAM_BOUNDS.latency_s,
    read: (source) => threads(source).map((thread) => ({ '': thread.latency_s })),
  },
];
