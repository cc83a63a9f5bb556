import type { OwnedPartition } from '../partitions/partitions.js';
import type { Sql } from '../postgres/database.js';
import { dueJobs, FETCH_ORDER, markFetched, oldestFetchedJobs, placeOf } from '../postgres/job-table.js';

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

/** A job that was fetched; without a connection and workspace, its operation has ended or is gone, and the job can be deleted. */
export interface FetchedJob {
  id: string;
  connection_id: string | null;
  workspace_id: string | null;
  /** In the queue: lower ones were accepted before. */
  place: number;
}

/**
 * Fetches up to `limit` due jobs of the partition under its epoch, in the order in which they were accepted, with the connections
 * of those that are queued. Nothing when the epoch is stale: what is fetched is the owner's, or nobody's. One statement, so that an
 * answer that is lost loses all of it, and taking the partition again puts all of it back.
 */
export function fetchOperations(db: Sql, { id, epoch }: OwnedPartition, limit: number): Promise<FetchedJob[]> {
  return db.query<FetchedJob>('fetchOperations', FETCH, [id, epoch, limit]);
}

const FETCH = `
  with fence as materialized (
    select id from partition where id = $1::smallint and epoch = $2 for key share skip locked
  ), due as materialized (
    select j.id, ${placeOf('j.created_on')} as place
    from ${dueJobs('operation', '$1::smallint')} and exists (select 1 from fence)
    order by ${FETCH_ORDER} limit $3 for update of j skip locked
  ), fetched as (
    ${markFetched('operation', '$1::smallint', 'due')}
  )
  select d.id, d.place, o.connection_id, o.workspace_id from due d left join operation o on o.id = d.id and o.status = 'queued'
  order by d.place, d.id`;

/**
 * The operations that stand in the rows as fetched by the partition's owner, or as running: what it must have in hand. Looks at the
 * oldest `limit` jobs: what is lost is among them, at the latest when those before it have ended.
 */
export async function operationsInRows(db: Sql, partition: number, limit: number): Promise<string[]> {
  const rows = await db.query<{ id: string }>(
    'operationsInRows',
    `${oldestFetchedJobs('operation', '$1::smallint', '$2')}
     union select r.operation_id from running_operation r where r.partition = $1::smallint`,
    [partition, limit],
  );
  return rows.map((row) => row.id);
}
