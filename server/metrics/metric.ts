import type { HistogramSnapshot } from '../../actors/histogram.js';
import type { HostStats } from '../../actors/messages.js';
import type { NodeStats } from '../../actors/node/node.js';
import type { SystemStatus } from '../../actors/system.js';
import type { Outages } from '../../storage/log/outages.js';
import type { RetentionStats } from '../../storage/maintenance/retention/retention.js';
import type { PoolStats } from '../../storage/postgres/database.js';

/** Where a node's metrics come from: its state, and what its actor and browser threads last reported. */
export interface MetricsSource {
  status(): SystemStatus;
  stats(): NodeStats;
  /** What keeps this node from taking and executing work now; nothing: it is ready. */
  unreadyReasons(): Promise<readonly string[]>;
  /** What the pools of this process see of the database. */
  outages: Pick<Outages, 'away' | 'total'>;
  /** The pools of the main thread. */
  pools(): { [pool in 'edge' | 'control']?: PoolStats };
  /** How long the event loop of the main thread was held up, at the longest of late. */
  mainLag_s(): number;
  /** How long what the service itself has to tell has waited to become an event, as far as this node knows. */
  untold_s(): number;
  /** What was erased by its age. */
  retained(): RetentionStats;
}

/**
 * One metric, as data: what registers it, what `/metrics` explains it with and its row of `REFERENCE.md`. Labels come from
 * fixed vocabularies only (statuses, outcomes, route patterns, numbers of threads), so the number of series is bounded
 * whatever clients do.
 */
export interface Described {
  /** In the catalogue with the prefix of the service. */
  name: string;
  labels: readonly string[];
  meaning: string;
  /** What a bad value is, and what it means: for who is woken by it. */
  bad: string;
}

/** A value as it is at a scrape. */
export interface GaugeMetric extends Described {
  type: 'gauge';
  read(source: MetricsSource): GaugeValue[] | Promise<GaugeValue[]>;
}

export interface GaugeValue {
  labels: Record<string, string | number>;
  value: number;
}

/** What the threads counted since their start, by a name that `labelsOf` explains. */
export interface CounterMetric extends Described {
  type: 'counter';
  labelsOf(counted: string): Record<string, string>;
  read(source: MetricsSource): Record<string, number>[];
}

/** What the threads observed since their start, by a name that `labelsOf` explains. */
export interface HistogramMetric extends Described {
  type: 'histogram';
  labelsOf(observed: string): Record<string, string>;
  /** Ascending. */
  bounds: readonly number[];
  read(source: MetricsSource): Record<string, HistogramSnapshot>[];
}

export type ThreadMetric = GaugeMetric | CounterMetric | HistogramMetric;

/** A histogram that the main thread observes itself. */
export interface ObservedMetric extends Described {
  type: 'histogram';
  bounds: readonly number[];
}

/** A metric without labels, but for its type and value. */
type Plain = Pick<Described, 'name' | 'meaning' | 'bad'>;

/** One value for the whole node. */
export function gauge(plain: Plain, read: (source: MetricsSource) => number): GaugeMetric {
  return { ...plain, type: 'gauge', labels: [], read: (source) => [{ labels: {}, value: read(source) }] };
}

/** The same, added up over the actor threads. */
export function ofHosts(plain: Plain, read: (host: HostStats) => number): GaugeMetric {
  return gauge(plain, (source) => sum(source.stats().hosts, read));
}

/** A counter without labels, added up from one count of each thread. */
export function counter(plain: Plain, read: (source: MetricsSource) => number[]): CounterMetric {
  const labelsOf = () => ({});
  return { ...plain, type: 'counter', labels: [], labelsOf, read: (source) => read(source).map((n) => ({ '': n })) };
}

/** A counter by one label, whose values are the names that are counted. */
export function counterBy<const L extends string>(
  label: L,
  plain: Plain,
  read: (source: MetricsSource) => Record<string, number>[],
): CounterMetric {
  return { ...plain, type: 'counter', labels: [label], labelsOf: (counted) => ({ [label]: counted }), read };
}

/** The same count of all threads together. */
export function sum<T>(threads: readonly T[], read: (thread: T) => number): number {
  return threads.reduce((total, thread) => total + read(thread), 0);
}
