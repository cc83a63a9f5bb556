import { jobPage } from '../jobs/job-table.js';
import type { OwnedPartition } from '../partitions/partitions.js';
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
 * The next `limit` mailboxes of the partition after the connection `after`, in the order of their connections, and whether the rows show
 * each as open: then the partition's owner must have it open. Undefined where the partition is not owned under this epoch.
 */
export async function mailboxesInRows(
  db: Sql,
  { id, epoch }: OwnedPartition,
  after: string,
  limit: number,
): Promise<{ id: string; open: boolean }[] | undefined> {
  const rows = await db.query<{ id: string | null; open: boolean }>(
    'mailboxesInRows',
    `select page.id, page.state = 'active' as open
     from partition p left join lateral (${jobPage('mailbox', 'p.id', '$2::uuid', '$3')}) page on true
     where p.id = $1::smallint and p.epoch = $4::bigint`,
    [id, after, limit, epoch],
  );
  if (rows.length === 0) return undefined;
  return rows.flatMap((row) => (row.id === null ? [] : [{ id: row.id, open: row.open }]));
}
