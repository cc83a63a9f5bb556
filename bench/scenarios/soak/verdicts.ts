import type { Latency } from '../../kit/latencies.js';
import { type Point, picked, secondHalf, slopeOf } from '../../kit/level.js';
import { median } from '../../kit/spread.js';
import { LIMITS } from './limits.js';
import type { QuarterLatencies } from './messages.js';
import type { Sample } from './samples.js';
import { isMeantToGrow, type TableSample } from './tables.js';

/** Whether one measure stayed level. */
export interface Verdict {
  measure: string;
  /** Medians of the first and of the last quarter of the time. */
  first: number;
  last: number;
  /** By which it grew over the second half, by its slope, and by which it may have. */
  growth: number;
  bound: number;
  /** Undefined when the second half is too short to tell. */
  level: boolean | undefined;
}

const MIB = 1_024 * 1_024;

/** What the service itself holds: how a sample has it, and what it may grow by at least. */
const MEASURES: [measure: string, read: (sample: Sample) => number, most: number][] = [
  ['memory (MiB)', ({ rss_mib }) => rss_mib, LIMITS.growth_rss_mib],
  ['browser (MiB)', ({ browser_mib }) => browser_mib, LIMITS.growth_browser_mib],
  ['handles', ({ handles }) => handles, LIMITS.growth_handles],
  ['connections', ({ database_connections }) => database_connections, LIMITS.growth_connections],
  ['contexts', ({ contexts }) => contexts, LIMITS.growth_contexts],
  ['pages', ({ pages }) => pages, LIMITS.growth_contexts],
  ['listeners', ({ listeners }) => listeners, LIMITS.growth_contexts],
  ['waiting', ({ waiting }) => waiting, LIMITS.growth_waiting],
  ['orphans', ({ orphans }) => orphans, 0],
  ['answer (ms)', ({ answer_ms }) => answer_ms, LIMITS.growth_answer_ms],
];

/** Of what the service holds, then of every table. */
export function verdictsOf(samples: readonly Sample[]): Verdict[] {
  const own = MEASURES.map(([measure, read, most]) =>
    verdictOf(
      measure,
      samples.map((sample) => ({ at: sample.at, value: read(sample) })),
      most,
    ),
  );
  const names = new Set(samples.flatMap(({ tables }) => tables.map(({ name }) => name)));
  return [...own, ...[...names].sort().flatMap((name) => tableVerdicts(name, samples))];
}

/** Whether the points stay level over the second half of their time; `most` is what they may grow by in any case. */
export function verdictOf(measure: string, points: readonly Point[], most: number): Verdict {
  const half = picked(secondHalf(points), LIMITS.picked_samples);
  const span = (half.at(-1)?.at ?? 0) - (half[0]?.at ?? 0);
  const growth = slopeOf(half) * span;
  const bound = Math.max(most, LIMITS.growth_share * median(half.map(({ value }) => value)));
  const judged = span * 1_000 >= LIMITS.judged_ms;
  return {
    ...{ measure, first: median(quarter(points, 0)), last: median(quarter(points, 3)) },
    ...{ growth, bound, level: judged ? growth <= bound : undefined },
  };
}

/** A table that must not grow stays level in bytes, itself and its indexes; one that is meant to grow, in bytes a row and in dead rows. */
function tableVerdicts(name: string, samples: readonly Sample[]): Verdict[] {
  const pointsOf = (read: (table: TableSample) => number, from = 0): Point[] =>
    samples.flatMap(({ at, tables }) => {
      const table = tables.find((one) => one.name === name);
      return table && table.live >= from ? [{ at, value: read(table) }] : [];
    });
  if (!isMeantToGrow(name)) {
    const most = LIMITS.growth_table_mib;
    return [
      verdictOf(
        `${name}: table (MiB)`,
        pointsOf(({ table_bytes }) => table_bytes / MIB),
        most,
      ),
      verdictOf(
        `${name}: indexes (MiB)`,
        pointsOf(({ index_bytes }) => index_bytes / MIB),
        most,
      ),
    ];
  }
  const rows = pointsOf(
    ({ table_bytes, index_bytes, live }) => (table_bytes + index_bytes) / live,
    LIMITS.growing_rows,
  );
  if (rows.length === 0) return [];
  const share = verdictOf(
    `${name}: dead (%)`,
    pointsOf(({ live, dead }) => (dead / (live + dead)) * 100, LIMITS.growing_rows),
    0,
  );
  const bound = LIMITS.dead_share * 100;
  return [
    verdictOf(`${name}: bytes a row`, rows, LIMITS.growth_row_bytes),
    { ...share, bound, level: share.level === undefined ? undefined : share.last <= bound },
  ];
}

/** The values of one quarter of the time. */
function quarter(points: readonly Point[], place: number): number[] {
  const start = points[0]?.at ?? 0;
  const span = (points.at(-1)?.at ?? 0) - start;
  const of = (at: number) => Math.min(3, Math.floor(((at - start) / span) * 4));
  return points.filter(({ at }) => span === 0 || of(at) === place).map(({ value }) => value);
}

/** Latencies of the last quarter that are longer than those of the first by more than they may be, a sentence each. */
export function creepOf(quarters: readonly QuarterLatencies[]): string[] {
  const [first, last] = [quarters[0], quarters.at(-1)];
  if (!first || !last) return [];
  const kinds: [string, Latency, Latency][] = [
    ['accepted', first.accepted, last.accepted],
    ['ended', first.ended, last.ended],
  ];
  return kinds.flatMap(([kind, was, is]) => [
    ...crept(`${kind} p50`, was.p50_ms, is.p50_ms, LIMITS.creep_ms, LIMITS.creep_share),
    ...crept(`${kind} p99`, was.p99_ms, is.p99_ms, LIMITS.creep_p99_ms, LIMITS.creep_p99_share),
  ]);
}

function crept(what: string, was: number, is: number, most: number, share: number): string[] {
  if (is <= was + Math.max(most, share * was)) return [];
  return [`${what} crept from ${was.toFixed(1)} ms in the first quarter to ${is.toFixed(1)} ms in the last`];
}
