import { BROWSER_METRICS } from './browser-metrics.js';
import { CONNECTION_METRICS } from './connection-metrics.js';
import { DATABASE_METRICS } from './database-metrics.js';
import { DELIVERY_METRICS } from './delivery-metrics.js';
import type { Described, ObservedMetric, ThreadMetric } from './metric.js';
import { NODE_METRICS } from './node-metrics.js';
import { OPERATION_METRICS } from './operation-metrics.js';
import { LONG_POLL_METRIC, REQUEST_METRIC } from './request-metric.js';
import { RETENTION_METRICS } from './retention-metrics.js';

/** What every metric of the service begins with; prom-client's own of the process keep their names. */
export const PREFIX = 'connection_service_';

const prefixed = <M extends Described>(metric: M): M => ({ ...metric, name: PREFIX + metric.name });

/** Read from the threads at each scrape. */
export const THREAD_METRICS: readonly ThreadMetric[] = [
  ...NODE_METRICS,
  ...OPERATION_METRICS,
  ...CONNECTION_METRICS,
  ...DELIVERY_METRICS,
  ...DATABASE_METRICS,
  ...BROWSER_METRICS,
  ...RETENTION_METRICS,
].map(prefixed);

/** Observed by the main thread. */
export const OBSERVED_METRICS = {
  requests: prefixed(REQUEST_METRIC),
  longPolls: prefixed(LONG_POLL_METRIC),
} satisfies Record<string, ObservedMetric>;

/** Every metric of the service; `/metrics` shows prom-client's own of the process beside them. */
export const METRICS: readonly (ThreadMetric | ObservedMetric)[] = [
  ...Object.values(OBSERVED_METRICS),
  ...THREAD_METRICS,
];
