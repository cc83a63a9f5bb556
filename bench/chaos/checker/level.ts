import type { NodeSample } from '../evidence.js';
import type { Case } from './case.js';
import { LIMITS } from './limits.js';

type Measure = 'rss_mib' | 'handles' | 'database_connections' | 'contexts';

/** What a process holds stays level over the second half of its life; the first is for warming up. */
function* growth({ evidence }: Case, measure: Measure, most: number): Iterable<string> {
  const processes = Map.groupBy(evidence.samples, ({ node, pid }) => `node ${node} (pid ${pid})`);
  for (const [name, all] of processes) {
    const samples = secondHalf(all);
    const first = samples[0];
    const last = samples.at(-1);
    if (!first || !last || samples.length < LIMITS.level_samples || last.at - first.at < LIMITS.level_ms) continue;
    const points = picked(samples).map((sample) => ({ at: sample.at, value: sample[measure] }));
    const middle = median(points.map(({ value }) => value));
    const grown = slopeOf(points) * (last.at - first.at);
    if (grown <= Math.max(most, LIMITS.level_share * middle)) continue;
    const seconds = Math.round((last.at - first.at) / 1000);
    yield `${name} grew by ${Math.round(grown)} of ${measure} in ${seconds} s, from a median of ${Math.round(middle)}`;
  }
}

/** The memory of the nodes stays level. */
export const memoryStaysLevel = (run: Case) => growth(run, 'rss_mib', LIMITS.level_rss_mib);
/** The handles of the nodes (sockets, files, timers) stay level. */
export const handlesStayLevel = (run: Case) => growth(run, 'handles', LIMITS.level_handles);
/** The nodes' connections to the database stay level. */
export const connectionsStayLevel = (run: Case) => growth(run, 'database_connections', LIMITS.level_connections);
/** The open browser contexts of the nodes stay level. */
export const contextsStayLevel = (run: Case) => growth(run, 'contexts', LIMITS.level_contexts);

function secondHalf(samples: readonly NodeSample[]): NodeSample[] {
  const sorted = samples.toSorted((a, b) => a.at - b.at);
  const from = ((sorted[0]?.at ?? 0) + (sorted.at(-1)?.at ?? 0)) / 2;
  return sorted.filter(({ at }) => at >= from);
}

function picked(samples: NodeSample[]): NodeSample[] {
  const step = Math.max(1, samples.length / LIMITS.level_picked_samples);
  return Array.from({ length: Math.floor(samples.length / step) }, (_, i) => samples[Math.floor(i * step)]!);
}

/** The median of the slopes between all pairs (Theil and Sen): no single spike, and no fall after a collection, moves it. */
function slopeOf(points: { at: number; value: number }[]): number {
  const slopes: number[] = [];
  for (const [i, a] of points.entries()) {
    for (const b of points.slice(i + 1)) if (b.at > a.at) slopes.push((b.value - a.value) / (b.at - a.at));
  }
  return median(slopes);
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
