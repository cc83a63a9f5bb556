import { LIMITS } from './limits.js';

/** Gives the value of a metric by its name, added up over its labels. */
export async function readMetrics(metricsUrl: string): Promise<(name: string) => number> {
  const answer = await fetch(`${metricsUrl}/metrics`, { signal: AbortSignal.timeout(LIMITS.metrics_ms) });
  const sums = new Map<string, number>();
  for (const [, name = '', value] of (await answer.text()).matchAll(/^(\w+)(?:\{[^}]*\})? (\S+)$/gm)) {
    sums.set(name, (sums.get(name) ?? 0) + Number(value));
  }
  return (name) => sums.get(name) ?? 0;
}
