import type { Usage } from '../../kit/cost/meter.js';
import { mapParts, PART_NAMES, PARTS } from '../../kit/cost/parts.js';
import { number } from '../../kit/report.js';

/** A thread or a machine that is busy for this share of the time has nothing left. */
const BUSY = 0.85;

/** Other processes that keep so many cores busy spoil the figures. */
const OTHERS = 0.2;

/** What would have to give for more operations a second, as the split of processor time tells. Pure. */
export function bottleneckOf({ cpu_ms, others_ms, seconds }: Usage, nodes: number, cores: number): string {
  const busy = mapParts((part) => cpu_ms[part] / 1_000 / seconds);
  const others = others_ms / 1_000 / seconds;
  const all = PARTS.reduce((sum, part) => sum + busy[part], 0);
  const shares = PARTS.toSorted((a, b) => busy[b] - busy[a]).map(
    (part) => `${PART_NAMES[part]} ${number((busy[part] / all) * 100)} %`,
  );
  const told = `${number(all, 2)} of ${cores} cores at work: ${shares.join(', ')}`;
  if (others >= OTHERS && all + others >= cores * BUSY) {
    return `the processors of this machine, of which other processes take ${number(others, 2)} (${told})`;
  }
  if (all >= cores * BUSY) return `the processors of this machine (${told})`;
  if (busy.main >= nodes * BUSY) return `the main threads of the nodes (${told})`;
  return `what is waited for, such as commits (${told})`;
}
