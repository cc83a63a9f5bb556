import { LIMITS } from './limits.js';
import { KINDS, type Kind, type KindResult } from './messages.js';
import type { Trial } from './trial.js';

/** What an attack may do to the others. */
export interface Bounds {
  /** The neighbour's p99 under attack, as a multiple of that alone, and in milliseconds. */
  ratio: number;
  p99_ms: number;
  /** What the service's memory may grow by at the most, and what of that may stay, in MiB. */
  grown_mib: number;
  leaked_mib: number;
}

/** `held`: within both bounds. `near`: within one of the two. `broken`: within neither, or too many requests failed. */
export type Standing = 'held' | 'near' | 'broken';

export function standingOf(alone: KindResult, under: KindResult, { ratio, p99_ms }: Bounds): Standing {
  if (under.failed > under.due * LIMITS.failed_share && under.failed > alone.failed) return 'broken';
  const bounds = [under.p99_ms <= alone.p99_ms * ratio, under.p99_ms <= p99_ms];
  return bounds.every(Boolean) ? 'held' : bounds.some(Boolean) ? 'near' : 'broken';
}

export interface Verdict {
  standings: Record<Kind, Standing>;
  grown_mib: number;
  leaked_mib: number;
  /** What did not hold, a sentence each. */
  breaches: string[];
}

/** Pure: what a trial comes to. */
export function verdictOf(trial: Trial, bounds: Bounds): Verdict {
  const { alone, under, memory } = trial;
  const standings = Object.fromEntries(
    KINDS.map((kind) => [kind, standingOf(alone.kinds[kind], under.kinds[kind], bounds)]),
  ) as Record<Kind, Standing>;
  const before_mib = memory.before.rss_kib / 1_024;
  const grown_mib = memory.peak_mib - before_mib;
  const leaked_mib = memory.after.rss_kib / 1_024 - before_mib;
  const broken = KINDS.filter((kind) => standings[kind] === 'broken').map((kind) => {
    const { p99_ms, failed, due } = under.kinds[kind];
    const was = alone.kinds[kind].p99_ms;
    return `p99 of the neighbour's ${kind} is ${p99_ms.toFixed(0)} ms, ${was.toFixed(0)} ms alone; ${failed} of ${due} failed`;
  });
  return {
    standings,
    grown_mib,
    leaked_mib,
    breaches: [...broken, ...otherBreaches(trial, bounds, grown_mib, leaked_mib)],
  };
}

function otherBreaches(trial: Trial, bounds: Bounds, grown_mib: number, leaked_mib: number): string[] {
  const { unexpected, under, attacked, series, healthy, sessions, left, uncleared } = trial;
  const unanswered = unexpected + (under.answers['5xx'] ?? 0) + (attacked.answers['5xx'] ?? 0);
  const found: [boolean, string][] = [
    [
      unanswered > 0,
      `answers of 5xx other than 503: ${unexpected} as the service counts them, ${unanswered} with those seen`,
    ],
    [grown_mib > bounds.grown_mib, `memory grew by ${grown_mib.toFixed(0)} MiB`],
    [leaked_mib > bounds.leaked_mib, `${leaked_mib.toFixed(0)} MiB stayed after it`],
    [sessions.back_ms === null, `the API's sessions were not back within ${LIMITS.sessions_back_ms / 1_000} s`],
    [series.after < 0, 'the service has no metrics to show any more'],
    [!healthy, 'the service is not healthy after it'],
    [uncleared !== null, `the attacker could not take away what it had put in place: ${uncleared}`],
    [left.operations > 0, `${left.operations} operations have not ended ${LIMITS.settle_ms / 1_000} s after it`],
    [left.deliveries > 0, `${left.deliveries} deliveries have not ended ${LIMITS.settle_ms / 1_000} s after it`],
  ];
  return found.filter(([is]) => is).map(([, what]) => what);
}
