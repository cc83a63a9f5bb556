import { LIMITS } from '../limits.js';
import type { Sql } from './database.js';
import { JOBS, NEVER_EXPIRES } from './job-table.js';
import { acceptIntoMailboxes } from './mailbox-jobs.js';

/**
 * The version before has one job an operation, in the queue `operation-<partition>`, and knows no mailboxes. While one of its nodes is
 * alive, both run beside each other: what it stored is taken into mailboxes, and what it may have to run gets such a job as
 * well. The version after this one can do without this file, the queues and the table `running_operation`.
 */
const FORMER_NODE = `exists (select 1 from node where not mailboxes and heartbeat_at > now() - interval '1 minute')`;

/** Inserts a job of the version before for each row `s` that has an `id` and a `partition`, while a node of it is alive. */
export function insertFormerJobs(from: string): string {
  return `insert into ${JOBS} (id, name, state, start_after, expire_seconds, keep_until)
    select s.id, 'operation-' || s.partition, 'created', now(), ${NEVER_EXPIRES} from ${from} and ${FORMER_NODE}`;
}

/** True while a node of the version before runs an operation of this connection. */
export const runsAtFormer = (connection: string): string =>
  `exists (select 1 from running_operation f where f.connection_id = ${connection})`;

const ADOPT = `
  with fence as materialized (
    select id from partition where id = $1::smallint and ($2::bigint is null or epoch = $2) for key share skip locked
  ), vacated as (
    delete from running_operation r using fence f where r.partition = f.id
  ), former as materialized (
    select j.name, j.id from ${JOBS} j where j.name = (select 'operation-' || id from fence) order by j.name, j.id limit $3 for update
  ), gone as (
    delete from ${JOBS} j using former f where j.name = f.name and j.id = f.id
  ), live as materialized (
    select o.connection_id, (array_agg(o.id order by o.id))[1] as mark
    from former f join operation o on o.id = f.id and o.status in ('queued', 'running', 'waiting_user') group by o.connection_id
  ), adopted as (
    ${acceptIntoMailboxes({
      from: 'live l',
      where: 'true',
      partition: '$1::smallint',
      connection: 'l.connection_id',
      mark: 'l.mark',
      opened: 'false',
      started: 'true',
    })}
  )
  select id from former`;

/**
 * Takes the operations of a partition that have a job of the version before into mailboxes, which are due then; none of them runs at such a
 * node any more. With `epoch`, only if the partition still has it. Takes a statement a page: however many there are, none reaches its time
 * limit.
 */
export async function adoptFormerJobs(sql: Sql, partition: number, epoch: number | null = null): Promise<void> {
  for (let jobs: number = LIMITS.put_back_jobs; jobs === LIMITS.put_back_jobs; ) {
    jobs = (await sql.query('adoptFormerJobs', ADOPT, [partition, epoch, LIMITS.put_back_jobs])).length;
  }
}
