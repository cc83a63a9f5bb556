import type { KindResult } from '../load/messages.js';
import type { Plot } from '../page/plot.js';
import { number, rows } from '../report.js';
import { type Spread, spreadOf } from '../spread.js';
import type { Usage } from './meter.js';
import { mapParts, PART_NAMES, PARTS, type Part } from './parts.js';

/** One measurement of a throughput. */
export interface Round {
  /** What was done, and in how many seconds. */
  operations: number;
  seconds: number;
  usage: Usage;
  latency: KindResult;
  /** How many were done, up to each of these seconds. */
  timeline: { at: number; per_second: number }[];
}

/** The rounds of one measurement, as every report about a throughput gives them. */
export interface Summary {
  per_second: Spread;
  p50_ms: Spread;
  p99_ms: Spread;
  /** Microseconds of processor time an operation. */
  cpu_us: Record<Part, Spread>;
  service_us: Spread;
  postgres_us: Spread;
  wal_bytes: Spread;
  /** Cores that other processes of the machine kept busy. */
  others_cores: Spread;
  operations: number;
}

/** Pure. Throws when there is no round, or nothing was done in one. */
export function summaryOf(rounds: Round[]): Summary {
  if (rounds.some(({ operations }) => operations === 0)) throw new Error('nothing was done in a round');
  const spread = (of: (round: Round) => number) => spreadOf(rounds.map(of));
  const us = (part: Part) => (round: Round) => (round.usage.cpu_ms[part] * 1_000) / round.operations;
  return {
    per_second: spread((round) => round.operations / round.seconds),
    p50_ms: spread((round) => round.latency.p50_ms),
    p99_ms: spread((round) => round.latency.p99_ms),
    cpu_us: Object.fromEntries(PARTS.map((part) => [part, spread(us(part))])) as Record<Part, Spread>,
    service_us: spread((round) => us('main')(round) + us('actors')(round) + us('helpers')(round)),
    postgres_us: spread(us('postgres')),
    wal_bytes: spread((round) => round.usage.wal_bytes / round.operations),
    others_cores: spread(({ usage }) => usage.others_ms / 1_000 / usage.seconds),
    operations: rounds.reduce((sum, round) => sum + round.operations, 0),
  };
}

/** Microseconds of processor time an operation, of the service and of its database. */
export function costText({ cpu_ms }: Usage, operations: number): string {
  const us = (...parts: Part[]) => number((parts.reduce((sum, part) => sum + cpu_ms[part], 0) * 1_000) / operations);
  return `${us('main', 'actors', 'helpers')} + ${us('postgres')}`;
}

/** The median, and in brackets what it lies between. */
export function spreadText({ median, min, max }: Spread, unit: string, decimals = 0): string {
  return `${number(median, decimals)} ${unit} (${number(min, decimals)}–${number(max, decimals)})`;
}

/** What a person reads of it. `one`: what is counted. */
export function summaryLines(summary: Summary, one: string): string[] {
  const { per_second, p50_ms, p99_ms, cpu_us, service_us, postgres_us, wal_bytes } = summary;
  const parts = (['main', 'actors', 'helpers'] as const).map(
    (part) => `${PART_NAMES[part]} ${number(cpu_us[part].median)}`,
  );
  return rows([
    ['rate', `${spreadText(per_second, `${one}/s`)}`],
    ['latency', `p50 ${spreadText(p50_ms, 'ms', 2)}, p99 ${spreadText(p99_ms, 'ms', 1)}`],
    ['service', `${spreadText(service_us, 'µs')} of processor time each: ${parts.join(', ')}`],
    ['database', `${spreadText(postgres_us, 'µs')} of processor time each`],
    ['log', `${spreadText(wal_bytes, 'bytes')} of write-ahead log each`],
    ['client', `${spreadText(cpu_us.client, 'µs')} of processor time each`],
    ['others', `${spreadText(summary.others_cores, 'cores', 2)} were busy with other processes of this machine`],
    [
      'samples',
      `${number(summary.operations)} in ${per_second.rounds.length} rounds; median (least–most) of the rounds`,
    ],
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
