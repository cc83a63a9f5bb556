import type { Sql } from '../../../storage/postgres/database.js';

/** Lets retention go on at its own pace while `work` runs; it erases nothing for a day afterwards. */
export async function whileErasing<T>(db: Sql, work: () => Promise<T>): Promise<T> {
  await db.query('retentionTurns', 'update retention_turn set due_at = now()');
  try {
    return await work();
  } finally {
    await holdTurns(db);
  }
}

/** Lets none run for a day. */
export async function holdTurns(db: Sql): Promise<void> {
  await db.query('retentionHolds', `update retention_turn set due_at = now() + interval '1 day'`);
}
