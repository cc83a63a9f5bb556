import { picked, secondHalf, slopeOf } from '../../../kit/level.js';
import { median } from '../../../kit/spread.js';
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
    const points = picked(samples, LIMITS.level_picked_samples).map((sample) => ({
      at: sample.at,
      value: sample[measure],
    }));
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
