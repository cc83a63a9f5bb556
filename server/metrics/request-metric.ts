import type { ObservedMetric } from './metric.js';

/** One answered request. `route` is the pattern, never the path; null when none matched. */
export interface AnsweredRequest {
  method: string;
  route: string | null;
  status: number | 'aborted';
  seconds: number;
}

export const REQUEST_METRIC: ObservedMetric = {
  name: 'http_request_duration_seconds',
  type: 'histogram',
  labels: ['method', 'route', 'status'],
  meaning: 'Requests by method, route pattern and status',
  bounds: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30],
};

const METHODS: ReadonlySet<string> = new Set(['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT']);

/** The labels of a request. A method that is none of the known ones is `other`, on every path: clients can make up any. */
export function requestLabels({ method, route, status }: AnsweredRequest): Record<string, string | number> {
  return { method: METHODS.has(method) ? method : 'other', route: route ?? 'none', status };
}
