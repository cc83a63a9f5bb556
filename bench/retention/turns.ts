import { setInterval as every } from 'node:timers/promises';
import type { Sql } from '../../storage/postgres/database.js';

/** Retention never rests while `work` runs, and erases nothing for a day afterwards. */
export async function whileErasing<T>(db: Sql, work: () => Promise<T>): Promise<T> {
  const round = new AbortController();
  const turning = keepTurning(db, round.signal);
  try {
    return await work();
  } finally {
    round.abort();
    await turning;
    await holdTurns(db);
  }
}

async function keepTurning(db: Sql, signal: AbortSignal): Promise<void> {
  await letTurn(db);
  try {
    for await (const _ of every(1_000, undefined, { signal })) await letTurn(db);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** Lets the next slices run, one after the other, without the rest between rounds. What is due already is not touched: who looks would pass it by. */
async function letTurn(db: Sql): Promise<void> {
  await db.query('retentionTurns', 'update retention_turn set due_at = now() where due_at > now()');
}

/** Lets none run for a day. */
export async function holdTurns(db: Sql): Promise<void> {
  await db.query('retentionHolds', `update retention_turn set due_at = now() + interval '1 day'`);
}
