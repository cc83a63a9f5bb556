import type { Usage } from '../kit/cost/meter.js';
import { NO_LATENCY } from '../kit/latencies.js';
import { number } from '../kit/report.js';
import { LIMITS } from './limits.js';
import type { KindResult, LoadResult } from './messages.js';
import type { Round } from './rounds.js';

const NONE: KindResult = { ...NO_LATENCY, distribution: [] };

/** A run of the load program as a round: each good answer is an operation. */
export function roundOf(result: LoadResult, usage: Usage): Round {
  const [latency = NONE] = Object.values(result.kinds);
  return {
    operations: result.answered,
    seconds: result.seconds,
    usage: withClient(usage, result),
    latency,
    timeline: result.timeline.map((count, place) => ({
      at: ((place + 1) * LIMITS.timeline_ms) / 1_000,
      per_second: (count * 1_000) / LIMITS.timeline_ms,
    })),
  };
}

/** The program tells its own processor time, which is gone with it when it has ended. */
export const withClient = (usage: Usage, { cpu_ms }: LoadResult): Usage => ({
  ...usage,
  cpu_ms: { ...usage.cpu_ms, client: cpu_ms },
});

/** What went wrong, a sentence each. */
export function errorsOf({ errors, refused, left_out }: LoadResult): string[] {
  return [
    ...Object.entries(errors).map(([what, count]) => `${number(count)} × ${what}`),
    ...(refused.count > 0 ? [`${number(refused.count)} × status 503`] : []),
    ...(left_out > 0 ? [`${number(left_out)} left out`] : []),
  ];
}

/** Of these, what is no refusal of a service that is sent more than it takes. */
export const faultsAmong = (errors: string[]): string[] =>
  errors.filter((error) => !/status 503$|left out$/.test(error));
