import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '../../../storage/postgres/database.js';
import { askUntil } from '../../kit/eventually.js';
import { LIMITS } from './limits.js';
import { countEnds, type Leftovers, sampleLeftovers } from './tables.js';

/** What is there once the load is over and its work has had its time to end. */
export interface Ending extends Leftovers {
  seconds: number;
  operations: Record<string, number>;
  deliveries: Record<string, number>;
}

/** Waits until no queue has a job and no connection is held, or the time for it is over. Then counts the ends. */
export async function settle(db: Database): Promise<Ending> {
  const startedAt = performance.now();
  const look = async () => {
    await delay(LIMITS.settle_poll_ms);
    return sampleLeftovers(db);
  };
  const { last } = await askUntil(look, ({ jobs, running }) => jobs + running === 0, { ms: LIMITS.settle_ms });
  const seconds = (performance.now() - startedAt) / 1_000;
  return { ...(last ?? (await sampleLeftovers(db))), seconds, ...(await countEnds(db)) };
}

const OPEN_OPERATION = new Set(['queued', 'running', 'waiting_user']);
const OPEN_DELIVERY = new Set(['pending', 'sending']);

/** What should have ended otherwise, a sentence each: nothing failed, so everything succeeds and every callback comes. */
export function leftOf({ jobs, running, operations, deliveries }: Ending, callbacks: number): string[] {
  const found: string[] = [];
  if (jobs > 0) found.push(`${jobs} jobs are left in the queues`);
  if (running > 0) found.push(`${running} connections are still held by an operation`);
  for (const [status, count] of Object.entries(operations)) {
    if (OPEN_OPERATION.has(status)) found.push(`${count} operations are still ${status}`);
    else if (status !== 'succeeded') found.push(`${count} operations ended ${status}`);
  }
  for (const [status, count] of Object.entries(deliveries)) {
    if (OPEN_DELIVERY.has(status)) found.push(`${count} deliveries are still ${status}`);
    else if (status !== 'delivered') found.push(`${count} deliveries ended ${status}`);
  }
  const delivered = deliveries.delivered ?? 0;
  if (callbacks < delivered) found.push(`${delivered} deliveries are delivered, and only ${callbacks} callbacks came`);
  return found;
}
