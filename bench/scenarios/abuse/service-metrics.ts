import { LIMITS } from './limits.js';

/** What the service says of itself. */
export interface ServiceMetrics {
  /** Requests answered with each status, since its start. */
  statuses: Record<string, number>;
  /** Lines with a value: a number that grows with requests is a leak that every scrape pays for. */
  series: number;
}

/** Null when the service has no metrics to show. */
export async function serviceMetrics(metricsUrl: string): Promise<ServiceMetrics | null> {
  const answer = await fetch(`${metricsUrl}/metrics`, { signal: AbortSignal.timeout(LIMITS.answer_ms) }).catch(
    () => null,
  );
  if (answer?.status !== 200) return null;
  const text = await answer.text();
  const statuses: Record<string, number> = {};
  for (const [, labels = '', value] of text.matchAll(
    /^connection_service_http_(?:request|long_poll)_duration_seconds_count\{([^}]*)\} (\S+)$/gm,
  )) {
    const status = /status="([^"]*)"/.exec(labels)?.[1] ?? '';
    statuses[status] = (statuses[status] ?? 0) + Number(value);
  }
  return { statuses, series: text.split('\n').filter((line) => line !== '' && !line.startsWith('#')).length };
}

/** Requests that were answered with a 5xx other than 503, of both. */
export function unexpectedBetween(before: ServiceMetrics | null, after: ServiceMetrics | null): number {
  const sum = (metrics: ServiceMetrics | null) =>
    Object.entries(metrics?.statuses ?? {})
      .filter(([status]) => /^5/.test(status) && status !== '503')
      .reduce((all, [, count]) => all + count, 0);
  return sum(after) - sum(before);
}
