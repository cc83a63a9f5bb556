import { acceptIntoMailboxes, isMailboxOf, MAILBOX, markOf } from '../jobs/mailbox-jobs.js';
import type { Sql } from '../postgres/database.js';

/** An operation that has not ended and that no mailbox covers (I1 of `mailboxes.ts`): nobody would run it, or learn that its worker is lost. */
export interface Orphan {
  id: string;
  connection_id: string;
  partition: number;
}

/** What a look at operations found. */
export interface OperationsSeen {
  /** The last one that was looked at; null: there was none. */
  last: string | null;
  seen: number;
  /** Those that have not ended and are covered. */
  live: string[];
  orphans: Orphan[];
}

const lookAt = (page: string) => `
  with page as materialized (${page}), live as materialized (
    select p.id, p.connection_id, p.partition, coalesce(j.mark <= p.id, false) as covered
    from page p join connection c on c.id = p.connection_id and c.deleted_at is null
      left join lateral (select ${markOf('j.data')} as mark from ${MAILBOX} j where ${isMailboxOf('p.partition', 'p.connection_id')} limit 1) j on true
    where p.status in ('queued', 'running', 'waiting_user')
  )
  select (select id from page order by id desc limit 1) as last, (select count(*)::int from page) as seen,
    array(select id from live where covered) as live,
    coalesce((select jsonb_agg(jsonb_build_object('id', id, 'connection_id', connection_id, 'partition', partition)) from live where not covered), '[]') as orphans`;

const PAGE = lookAt(`
  select id, connection_id, partition, status from operation where id > $1::uuid and id < $2::uuid order by id limit $3`);

/** Looks at up to `limit` operations whose ids are between these. Index: operation_pkey. */
export async function lookAtOperations(db: Sql, after: string, before: string, limit: number): Promise<OperationsSeen> {
  const [seen] = await db.query<OperationsSeen>('lookAtOperations', PAGE, [after, before, limit]);
  return seen as OperationsSeen;
}

const AGAIN = lookAt('select id, connection_id, partition, status from operation where id = any($1::uuid[])');

/** Looks at these operations again. */
export async function lookAgain(db: Sql, ids: string[]): Promise<OperationsSeen> {
  const [seen] = await db.query<OperationsSeen>('lookAgain', AGAIN, [ids]);
  return seen as OperationsSeen;
}

const RESCUE = `
  with lost as (
    select connection_id, partition, (array_agg(id order by id))[1] as mark
    from unnest($1::uuid[], $2::uuid[], $3::smallint[]) o(id, connection_id, partition) group by connection_id, partition
  ) ${acceptIntoMailboxes({
    ...{ from: 'lost', where: 'true', partition: 'partition', connection: 'connection_id', mark: 'mark' },
    ...{ opened: 'false', started: 'true', doubt: true },
  })}`;

/**
 * Makes the mailboxes of orphans due, in doubt: their owner takes the partition again, and recovery queues what nobody runs, or ends it
 * `outcome_unknown`. Of an operation that is covered by now, or has ended, that changes nothing.
 */
export async function rescueOrphans(db: Sql, orphans: Orphan[]): Promise<void> {
  await db.query('rescueOrphans', RESCUE, [
    orphans.map(({ id }) => id),
    orphans.map(({ connection_id }) => connection_id),
    orphans.map(({ partition }) => partition),
  ]);
}
