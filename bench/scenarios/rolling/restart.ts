import { PARTITIONS } from '../../../storage/model/records.js';
import { eventually } from '../../kit/eventually.js';
import type { ChaosNode } from '../chaos/parts/node.js';
import type { World } from '../chaos/parts/world.js';
import { LIMITS } from './limits.js';

/** What every node is restarted to before the next step begins. */
export interface Step {
  name: string;
  program: string;
  /** ENCRYPTION_KEYS. */
  keys: string;
}

/** One clean restart. Times run from SIGTERM on. */
export interface Restart {
  step: string;
  node: number;
  /** False when SIGTERM did not end it, and it was killed. */
  clean: boolean;
  ended_ms: number;
  serves_ms: number;
  /** It owns partitions again, and every partition has an owner. */
  owns_ms: number;
}

/** Ends the node with SIGTERM and starts it as the step says; resolves once it serves and owns partitions again. */
export async function restart(world: World, node: ChaosNode, { name, program, keys }: Step): Promise<Restart> {
  const told = performance.now();
  const since = () => Math.round(performance.now() - told);
  const clean = await node.end();
  const ended_ms = since();
  node.use(program, { ENCRYPTION_KEYS: keys });
  node.start();
  await eventually(
    `node ${node.number} serves again`,
    () => node.pid,
    (pid) => pid !== undefined,
    { ms: LIMITS.node_back_ms },
  );
  const serves_ms = since();
  await eventually(
    `node ${node.number} owns partitions again`,
    () => ownersOf(world),
    ({ owners, owned }) => owners === world.nodes.length && owned === PARTITIONS,
    { ms: LIMITS.node_back_ms },
  );
  return { step: name, node: node.number, clean, ended_ms, serves_ms, owns_ms: since() };
}

async function ownersOf({ database }: World): Promise<{ owners: number; owned: number }> {
  const { rows } = await database.query(
    `select count(distinct node_id)::int as owners, count(*)::int as owned from partition
     where node_id is not null and lease_until > now()`,
  );
  return rows[0];
}

/** Operations that this process of the node has ended. */
export async function endedBy({ metricsUrl }: ChaosNode): Promise<number> {
  const answer = await fetch(`${metricsUrl}/metrics`, { signal: AbortSignal.timeout(LIMITS.metrics_ms) });
  const counts = (await answer.text()).matchAll(/^connection_service_operations_finished_total(?:\{[^}]*\})? (\d+)$/gm);
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
}
