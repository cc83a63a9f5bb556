import { Meter } from '../../kit/cost/meter.js';
import { type MemorySample, measureMemory } from '../../kit/heap/memory.js';
import { startService } from '../../kit/service.js';
import { WORK } from '../../kit/work.js';
import type { LoadOrder } from '../../load/messages.js';
import { runToEnd } from '../../load/run-to-end.js';
import { fillConnections } from './fill.js';

const LEG_s = 10;

export interface IdleMemory {
  connections: number;
  before: MemorySample;
  after: MemorySample;
  /** KiB a connection, of heap and buffers. */
  kib: number;
  rss_kib: number;
}

/** What a service holds of connections that have each run an operation, and then have nothing to do. */
export async function idleMemory(count: number, say: (line: string) => void): Promise<IdleMemory> {
  await using service = await startService({}, { inspect: true });
  const known = await service.createSimulated(64);
  return await service.withDatabase(async (_, db) => {
    const measured = {
      metricsUrls: [service.addresses.metricsUrl],
      db,
      meter: await Meter.open([service.pid], db),
    };
    const run = async (name: string, connectionIds: string[], seconds: number): Promise<number> => {
      const order: LoadOrder = {
        ...{ urls: [service.addresses.url], key: service.key, run: name, seconds, connectionIds },
        ...{ kinds: ['submit'], body: JSON.stringify(WORK.read), operationIds: [], clients: 64 },
      };
      return (await runToEnd(name, measured, order, say)).operations;
    };
    await run('warmup', known, LEG_s / 2);
    const before = await measureMemory(service.addresses.inspectorUrl);
    let left = await fillConnections(db, count);
    for (let leg = 1; left.length > 0; leg++) {
      left = left.slice(await run(`idle ${leg}, ${left.length} left`, left, LEG_s));
    }
    const after = await measureMemory(service.addresses.inspectorUrl);
    const held = (sample: MemorySample) => sample.heap_kib + sample.external_kib;
    return {
      ...{ connections: count, before, after },
      kib: (held(after) - held(before)) / count,
      rss_kib: (after.rss_kib - before.rss_kib) / count,
    };
  });
}
