import { setTimeout as delay } from 'node:timers/promises';
import { treeTime_ms } from '../kit/cost/cpu.js';
import { pgServer } from '../kit/cost/pg-server.js';
import { LIMITS } from '../kit/limits.js';
import { startService } from '../kit/service.js';
import { insertBaseline } from '../load/insert-baseline.js';
import type { Figures } from './figures.js';
import { CONNECTIONS } from './ours.js';

/**
 * What PostgreSQL gives to a plain program: one row a transaction, into the service's own table. It makes the schema and the
 * connections that rows belong to, and is stopped before anything is measured.
 */
export async function measureInserts(options: {
  seconds: number;
  warmup: number;
  connections: number;
}): Promise<Figures> {
  await using service = await startService();
  const connectionIds = await service.createSimulated(CONNECTIONS);
  await service.stop();
  return await service.withDatabase(async (url, db) => {
    const { postmaster } = await pgServer(db);
    const insert = (seconds: number) =>
      insertBaseline({ url, connectionIds, seconds, connections: options.connections });
    await insert(options.warmup);
    const [own, store] = [process.cpuUsage(), treeTime_ms(postmaster)];
    const { perSecond, inserted } = await insert(options.seconds);
    const { user, system } = process.cpuUsage(own);
    // Its backends end with it: their time is their parent's once it has seen that.
    await delay(LIMITS.drain_poll_ms);
    return {
      submit_per_s: perSecond,
      ended: inserted,
      server_us: (user + system) / inserted,
      store_us: ((treeTime_ms(postmaster) - store) * 1_000) / inserted,
    };
  });
}
