import { DELIVERY_METRICS } from './delivery-metrics.js';
import type { ObservedMetric, ThreadMetric } from './metric.js';
import { NODE_METRICS } from './node-metrics.js';
import { REQUEST_METRIC } from './request-metric.js';

/** Read from the threads at each scrape. */
export const THREAD_METRICS: readonly ThreadMetric[] = [...NODE_METRICS, ...DELIVERY_METRICS];

/** Every metric of the service; `/metrics` shows prom-client's own of the process beside them. */
export const METRICS: readonly (ThreadMetric | ObservedMetric)[] = [REQUEST_METRIC, ...THREAD_METRICS];
