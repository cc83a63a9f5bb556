import type { ObservedMetric } from './metric.js';

/** One answered request. `route` is the pattern, never the path; null when none matched. */
export interface AnsweredRequest {
  method: string;
  route: string | null;
  status: number | 'aborted';
  seconds: number;
  /** It waited for an operation: how long it took says nothing of the service. */
  longPoll: boolean;
}

const LABELS = ['method', 'route', 'status'] as const;

export const REQUEST_METRIC: ObservedMetric = {
  name: 'http_request_duration_seconds',
  type: 'histogram',
  labels: LABELS,
  meaning: 'Requests by method, route pattern and status, without those that wait for an operation',
  bad: 'Status 500 at all: a bug. 503 for minutes: overload, or the database is away. A 99th percentile above 1 s: the node or its database is behind.',
  bounds: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30],
};

export const LONG_POLL_METRIC: ObservedMetric = {
  name: 'http_long_poll_duration_seconds',
  type: 'histogram',
  labels: LABELS,
  meaning: 'Requests that wait for an operation: `Prefer: wait`, and the older invitation route',
  bad: 'Most near 30 s (5 s on the invitation route): operations do not end while their clients wait.',
  bounds: [0.01, 0.05, 0.1, 0.5, 1, 2.5, 5, 10, 20, 30],
};

const METHODS: ReadonlySet<string> = new Set(['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT']);

/** The labels of a request. A method that is none of the known ones is `other`, on every path: clients can make up any. */
export function requestLabels({ method, route, status }: AnsweredRequest): Record<string, string | number> {
  return { method: METHODS.has(method) ? method : 'other', route: route ?? 'none', status };
}
