import type { Sql } from '../postgres/database.js';

/** What the owner of partitions reads of its operations, in batches. */

/** Of these operations, those that run or wait and are to be cancelled: the poll behind a lost hint. */
export async function cancelsRequested(db: Sql, ids: string[]): Promise<string[]> {
  const rows = await db.query<{ id: string }>(
    'cancelsRequested',
    `select id from operation where id = any($1) and cancel_requested and status in ('running', 'waiting_user')`,
    [ids],
  );
  return rows.map((row) => row.id);
}

/**
 * The operations of fetched jobs: those still queued, in the order in which they were accepted, with their connections; and
 * those that have ended or are gone, whose jobs can be deleted.
 */
export async function jobsOfOperations(
  db: Sql,
  ids: string[],
): Promise<{ queued: { id: string; connection_id: string }[]; over: string[] }> {
  const rows = await db.query<{ id: string; connection_id: string }>(
    'jobsOfOperations',
    `select id, connection_id from operation where id = any($1) and status = 'queued' order by id`,
    [ids],
  );
  const queued = new Set(rows.map((row) => row.id));
  return { queued: rows, over: ids.filter((id) => !queued.has(id)) };
}
