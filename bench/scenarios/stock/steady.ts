import { costOf } from '../../kit/cost/cost.js';
import { Meter } from '../../kit/cost/meter.js';
import type { DatabaseChoice } from '../../kit/postgres/choice.js';
import { number } from '../../kit/report.js';
import { WORK } from '../../kit/work.js';
import type { LoadOrder } from '../../load/messages.js';
import { runToEnd } from '../../load/run-to-end.js';
import { Cluster } from '../nodes/cluster.js';
import type { Turn } from './turn.js';

/** Clients that send ten submissions a second each, whatever the answers take. */
const LOAD = { clients: 24, rate: 240 };
const NODES = [1, 3];
const CONNECTIONS = 256;

/** What half of the submissions should not exceed until their 202, on a database as its users install it. */
const GOAL_p50_ms = 10;

/** What a light load at a fixed rate takes to be accepted, on one node and on three. */
export async function steadyTurn(
  database: DatabaseChoice,
  { seconds, warmup }: { seconds: number; warmup: number },
  say: (line: string) => void,
): Promise<Turn> {
  await using cluster = new Cluster(database);
  say('starting the first node');
  await cluster.add();
  const connectionIds = await cluster.first.createSimulated(CONNECTIONS);
  return await cluster.first.withDatabase(async (_, db) => {
    const turn: Turn = { figures: [], costs: {}, faults: [] };
    for (const nodes of NODES) {
      while (cluster.nodes.length < nodes) await cluster.add();
      const { metricsUrls } = cluster;
      const services = cluster.nodes.map(({ pid }) => pid);
      const measured = { metricsUrls, db, meter: await Meter.open(services, db) };
      const what = `${nodes} ${nodes === 1 ? 'node' : 'nodes'}`;
      const run = (name: string, seconds: number) => {
        const order: LoadOrder = {
          ...{ urls: cluster.nodes.map(({ addresses }) => addresses.url), key: cluster.first.key, connectionIds },
          ...{ run: `${what} ${name}`, kinds: ['submit'], body: JSON.stringify(WORK.read), operationIds: [], seconds },
          ...LOAD,
        };
        return runToEnd(`${number(LOAD.rate)}/s on ${what}, ${name}`, measured, order, say);
      };
      await run('warmup', warmup);
      const round = await run('measured', seconds);
      const { p50_ms, p99_ms } = round.accepted;
      turn.figures.push(
        { name: `${what}, p50`, unit: 'ms', better: 'less', value: p50_ms, goal: GOAL_p50_ms },
        { name: `${what}, p99`, unit: 'ms', better: 'less', value: p99_ms },
      );
      turn.costs = { ...turn.costs, [`end with ${what}`]: costOf([round]) };
      turn.faults.push(...round.errors.map((error) => `${what}: ${error}`));
    }
    return turn;
  });
}
