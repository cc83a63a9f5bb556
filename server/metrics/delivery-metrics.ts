import { ATTEMPT_ERRORS } from '../../actors/deliveries/callback/attempt-error.js';
import { HISTOGRAM_BOUNDS } from '../../actors/deliveries/callback/counters.js';
import type { ThreadDeliveryStats } from '../../actors/deliveries/deliveries.js';
import { counterBy, gauge, type MetricsSource, sum, type ThreadMetric } from './metric.js';

const threads = (source: MetricsSource): ThreadDeliveryStats[] => source.stats().hosts.map((host) => host.deliveries);

/** What the deliveries of this node do. Labels are outcomes and classes of errors, whatever the subscription. */
export const DELIVERY_METRICS: readonly ThreadMetric[] = [
  gauge(
    {
      name: 'deliveries_in_flight',
      meaning: 'Callback attempts under way',
      bad: 'At `DELIVERY_CONCURRENCY` for minutes: receivers are slow, and others wait.',
    },
    (source) => sum(threads(source), (thread) => thread.in_flight),
  ),
  gauge(
    {
      name: 'subscriptions_waiting',
      meaning: 'Subscriptions whose next callback waits for a free place',
      bad: 'Above 0 for minutes: callbacks are late.',
    },
    (source) => sum(threads(source), (thread) => thread.waiting),
  ),
  gauge(
    {
      name: 'callback_destinations_paused',
      meaning: 'Destinations of callbacks that do not answer, of which one is tried now and then',
      bad: 'Many at once: this node, not the receivers, has no way out.',
    },
    (source) => sum(threads(source), (thread) => thread.paused_destinations),
  ),
  gauge(
    {
      name: 'delivery_oldest_pending_seconds',
      meaning:
        'Age of the oldest delivery that has not ended, in the partitions of this node, since its event was received',
      bad: 'Above 156 s and the time of five attempts: deliveries are not tried when they are due, or wait for a paused destination.',
    },
    (source) => Math.max(0, ...threads(source).map((thread) => thread.oldest_pending_s)),
  ),
  gauge(
    {
      name: 'announcement_oldest_seconds',
      meaning: 'How long the oldest of what the service itself has to tell has waited to become an event (EVT-20)',
      bad: 'Above 60 s: subscribers learn late that an account wants a login. The log says what cannot be recorded.',
    },
    (source) => source.untold_s(),
  ),
  {
    name: 'delivery_attempts_total',
    type: 'counter',
    labels: ['outcome', 'error'],
    meaning: `Callback attempts that ended, by outcome and class of error: none, ${ATTEMPT_ERRORS.join(', ')}`,
    bad: '`internal` or `secret`: this service fails. `dns`, `unreachable` or `timeout` of most: its way out. The rest are receivers.',
    labelsOf: (counted) =>
      counted === 'delivered' ? { outcome: 'delivered', error: 'none' } : { outcome: 'failed', error: counted },
    read: (source) => threads(source).map((thread) => thread.attempts),
  },
  counterBy(
    'what',
    {
      name: 'delivery_repairs_total',
      meaning: 'Deliveries found that nobody was working on, and made due again: fetched jobs, started attempts',
      bad: 'Growth without a crash of the database or a thread: a bug.',
    },
    (source) => threads(source).map((thread) => ({ ...thread.repairs })),
  ),
  {
    name: 'delivery_attempt_duration_seconds',
    type: 'histogram',
    labels: ['outcome'],
    meaning: 'Callback attempts by outcome, from the name lookup to the end of the answer',
    bad: 'Many `failed` near 15 s: receivers that hang take the places of others.',
    bounds: HISTOGRAM_BOUNDS.attempt_s,
    labelsOf: (outcome) => ({ outcome }),
    read: (source) => threads(source).map((thread) => thread.attempt_s),
  },
  {
    name: 'delivery_latency_seconds',
    type: 'histogram',
    labels: [],
    meaning: 'From the receipt of an event to the 2xx of its receiver, replays included',
    bad: 'A median above 1 s: receivers fail at first, or callbacks wait for a place.',
    bounds: HISTOGRAM_BOUNDS.latency_s,
    labelsOf: () => ({}),
    read: (source) => threads(source).map((thread) => ({ '': thread.latency_s })),
  },
];
