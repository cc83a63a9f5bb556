import type { HistogramSnapshot } from '../../actors/deliveries/histogram.js';
import type { HostStats } from '../../actors/messages.js';
import type { SystemStatus } from '../../actors/system.js';
import type { BrowserStats } from '../../browser-pool/messages.js';

/** Where a node's metrics come from: its state, and what its actor and browser threads last reported. */
export interface MetricsSource {
  status(): SystemStatus;
  stats(): { hosts: HostStats[]; browsers: BrowserStats[] };
}

/**
 * One metric, as data: what registers it, what `/metrics` explains it with and the README's row of it. Labels come from
 * fixed vocabularies only (statuses, outcomes, route patterns, numbers of threads), so the number of series is bounded
 * whatever clients do.
 */
interface Described {
  name: string;
  labels: readonly string[];
  meaning: string;
}

/** A value as it is at a scrape. */
export interface GaugeMetric extends Described {
  type: 'gauge';
  read(source: MetricsSource): { labels: Record<string, string | number>; value: number }[];
}

/** What the threads counted since their start, by a name that `labelsOf` explains. */
export interface CounterMetric extends Described {
  type: 'counter';
  labelsOf(counted: string): Record<string, string>;
  read(source: MetricsSource): Record<string, number>[];
}

/** What the threads observed since their start, by the value of the one label; by '' without a label. */
export interface HistogramMetric extends Described {
  type: 'histogram';
  labels: readonly [] | readonly [string];
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

/** One value for the whole node. */
export function gauge(name: string, meaning: string, read: (source: MetricsSource) => number): GaugeMetric {
  return { name, type: 'gauge', labels: [], meaning, read: (source) => [{ labels: {}, value: read(source) }] };
}

/** A counter without labels, added up from one count of each thread. */
export function counter(name: string, meaning: string, read: (source: MetricsSource) => number[]): CounterMetric {
  return {
    name,
    type: 'counter',
    labels: [],
    meaning,
    labelsOf: () => ({}),
    read: (source) => read(source).map((count) => ({ '': count })),
  };
}

/** The same count of all threads together. */
export function sum<T>(threads: readonly T[], read: (thread: T) => number): number {
  return threads.reduce((total, thread) => total + read(thread), 0);
}
