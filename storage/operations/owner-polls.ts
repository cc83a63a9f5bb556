import type { Sql } from '../postgres/database.js';
import { jobPage } from '../postgres/job-table.js';

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
 * The next `limit` mailboxes of the partition after the connection `after`, in the order of their connections, and whether the rows show
 * each as open: then the partition's owner must have it open.
 */
export function mailboxesInRows(
  db: Sql,
  partition: number,
  after: string,
  limit: number,
): Promise<{ id: string; open: boolean }[]> {
  return db.query<{ id: string; open: boolean }>(
    'mailboxesInRows',
    `select page.id, page.state = 'active' as open from (${jobPage('mailbox', '$1::smallint', '$2::uuid', '$3')}) page`,
    [partition, after, limit],
  );
}
