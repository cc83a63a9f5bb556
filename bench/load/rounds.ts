import { type Cost, costOf, type Metered } from '../kit/cost/cost.js';
import type { Usage } from '../kit/cost/meter.js';
import { mapParts, PART_NAMES, PARTS } from '../kit/cost/parts.js';
import type { Plot } from '../kit/page/plot.js';
import { rows, spreadText } from '../kit/report.js';
import { type Spread, spreadOf } from '../kit/spread.js';
import type { KindResult } from './messages.js';

/** One measurement of a throughput. */
export interface Round extends Metered {
  seconds: number;
  latency: KindResult;
  /** How many were done, up to each of these seconds. */
  timeline: { at: number; per_second: number }[];
}

/** The rounds of one measurement, as every report about a throughput gives them. */
export interface Summary extends Required<Cost> {
  per_second: Spread;
  p50_ms: Spread;
  p99_ms: Spread;
}

/** Pure. Throws when there is no round, or nothing was done in one. */
export function summaryOf(rounds: Round[]): Summary {
  const cost = costOf(rounds);
  const spread = (of: (round: Round) => number) => spreadOf(rounds.map(of));
  return {
    per_second: spread((round) => round.operations / round.seconds),
    p50_ms: spread((round) => round.latency.p50_ms),
    p99_ms: spread((round) => round.latency.p99_ms),
    ...cost,
  };
}

/** What a person reads of it beside its cost, which every report tells. `one`: what is counted. */
export function summaryLines({ per_second, p50_ms, p99_ms }: Summary, one: string): string[] {
  return rows([
    ['rate', `${spreadText(per_second, `${one}/s`)}`],
    ['latency', `p50 ${spreadText(p50_ms, 'ms', 2)}, p99 ${spreadText(p99_ms, 'ms', 1)}`],
  ]);
}

/** Throughput over time, latencies, processor time each and in all: of the round in the middle. */
export function roundPlots(title: string, rounds: Round[], one: string): Plot[] {
  const rate = (round: Round) => round.operations / round.seconds;
  const middle = rounds.toSorted((a, b) => rate(a) - rate(b))[Math.floor(rounds.length / 2)];
  if (!middle) return [];
  const { timeline, latency, usage, operations } = middle;
  const times = mapParts((part) => (usage.cpu_ms[part] * 1_000) / operations);
  return [
    {
      title: `${title}: throughput over time`,
      x: { label: 'seconds', values: timeline.map(({ at }) => at) },
      y: `${one}/s`,
      series: [{ name: `${one}/s`, values: timeline.map(({ per_second }) => per_second) }],
    },
    {
      title: `${title}: latency, and what share does not exceed it`,
      x: { label: 'milliseconds', values: latency.distribution.map(([, ms]) => ms), log: true },
      y: '%',
      series: [{ name: 'share', values: latency.distribution.map(([share]) => share * 100) }],
    },
    {
      title: `${title}: processor time each`,
      x: { label: 'part', names: PARTS.map((part) => PART_NAMES[part]) },
      y: 'µs',
      series: [{ name: 'µs each', values: PARTS.map((part) => times[part]) }],
    },
    coresPlot(title, usage),
  ];
}

/** How many cores each part kept busy over time. */
export const coresPlot = (title: string, { samples }: Usage): Plot => ({
  title: `${title}: cores at work`,
  x: { label: 'seconds', values: samples.map(({ at }) => at) },
  y: 'cores',
  series: PARTS.map((part) => ({ name: PART_NAMES[part], values: samples.map(({ cores }) => cores[part]) })),
});
