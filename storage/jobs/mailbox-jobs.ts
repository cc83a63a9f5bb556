import { LIMITS } from '../limits.js';
import type { Sql } from '../postgres/database.js';
import { findsRow } from '../postgres/finds-row.js';
import { dueJobs, FETCH_ORDER, isDue, JOBS, NEVER_EXPIRES } from './job-table.js';
import { queueName } from './jobs.js';

/**
 * Fragments for the jobs of mailboxes, one a connection with operations that have not ended (`operations/mailboxes.ts`, which tells
 * what their marks mean): the queue is that of the connection's partition, the id is the connection's, `data` holds the marks `from` and `new`.
 */
export const MAILBOX = JOBS;
export { isDue };

/** True for the job `j` of this connection. */
export const isMailboxOf = (partition: string, connection: string): string =>
  `j.name = 'mailbox-' || ${partition} and j.id = ${connection}`;

/** The lowest id that an operation of the mailbox which has not ended can have. */
export const markOf = (data: string): string => `(${data} ->> 'from')::uuid`;

/** True while an operation of this connection runs or waits for its user: it stands from the mark of its mailbox on. */
export const isRunning = (partition: string, connection: string): string =>
  findsRow(`
  from ${MAILBOX} j join operation r on r.connection_id = j.id and r.id >= ${markOf('j.data')}
  where ${isMailboxOf(partition, connection)} and r.status in ('running', 'waiting_user')`);

/**
 * Makes the mailboxes of these rows due, with `mark` as the lowest id of what is new in them; one that has no job gets one, which counts as
 * fetched at once where `opened` holds. Returns for each whether it did. `started`: something of it may run. `doubt`: and may be in no hand, so
 * that the owner who opens it takes the partition again. No connection may occur twice.
 */
export function acceptIntoMailboxes(source: {
  from: string;
  where: string;
  partition: string;
  connection: string;
  mark: string;
  opened: string;
  started: string;
  doubt?: boolean;
}): string {
  const { from, where, partition, connection, mark, opened, started, doubt = false } = source;
  const inDoubt = doubt ? `, 'doubt', true` : '';
  return `insert into ${MAILBOX} as j (id, name, state, started_on, start_after, expire_seconds, keep_until, data)
    select ${connection} as id, 'mailbox-' || ${partition} as name, case when ${opened} then 'active' else 'created' end::pgboss.job_state,
      case when ${started} then now() end, now(), ${NEVER_EXPIRES},
      case when ${opened} then jsonb_build_object('from', ${mark}) else jsonb_build_object('from', ${mark}, 'new', ${mark}${inDoubt}) end
    from ${from} where ${where} order by name, id
    on conflict (name, id) do update set state = 'created', start_after = least(j.start_after, excluded.start_after),
      started_on = coalesce(j.started_on, excluded.started_on),
      data = j.data || jsonb_build_object('from', least(${markOf('j.data')}, ${markOf('excluded.data')}),
        'new', least((j.data ->> 'new')::uuid, ${markOf('excluded.data')})${inDoubt})
    returning j.id, j.state = 'active' as opened`;
}

/** Locks the mailboxes of a partition that are due, the oldest first, with their data; not those of the connections of the array `but`. */
export function claimDueMailboxes(partition: string, limit: string, but: string): string {
  return `select j.name, j.id, j.data from ${dueJobs('mailbox', partition)} and j.id <> all (${but})
    order by ${FETCH_ORDER} limit ${limit} for update of j skip locked`;
}

/** The version of the mailbox `j`: every statement that changes it gives it another one, and no other has had it. */
export const VERSION = 'j.xmin';

/** The version that a mailbox has which this statement made or changed. */
export const OWN_VERSION = 'pg_current_xact_id()::xid::text';

/** Opens the mailboxes of the rows `d` of a common table, which has locked them. */
export function openMailboxJobs(rows: string): string {
  return `update ${MAILBOX} j set data = j.data - '{new,doubt}'::text[], state = 'active', started_on = now()
    from ${rows} d where j.name = d.name and j.id = d.id`;
}

/** Moves the marks of the mailboxes of the rows `d` of a common table, which has locked them, up to `mark`. Returns their ids. */
export function moveMarks(rows: string, mark: string): string {
  return `update ${MAILBOX} j set data = jsonb_build_object('from', greatest(${mark}, ${markOf('j.data')}))
    from ${rows} d where j.name = d.name and j.id = d.id and ${mark} is not null returning j.id`;
}

/** Deletes the mailboxes of the rows `d` of a common table, which has locked them, where `where` holds. Returns their ids. */
export function deleteMailboxes(rows: string, where: string): string {
  return `delete from ${MAILBOX} j using ${rows} d where j.name = d.name and j.id = d.id and ${where} returning j.id`;
}

/** True for the job `j` of a mailbox that an owner had open since the job was made: something of it may run. */
export const WAS_OPEN = 'j.started_on is not null';

/** Everything in the mailbox `j` is new to who opens it. */
export const ALL_NEW = `j.data || jsonb_build_object('new', ${markOf('j.data')})`;

const PUT_BACK = `
  with held as materialized (
    select j.name, j.id from ${MAILBOX} j where j.name = $1 and j.state = 'active' order by j.name, j.id limit $2 for update
  )
  update ${MAILBOX} j set state = 'created', data = ${ALL_NEW} from held h where j.name = h.name and j.id = h.id
  returning j.id`;

/**
 * Makes the open mailboxes of a partition due: their holder is gone, or does not know what is in them. Part of recovery. Returns how many there
 * were. Takes a statement a page: however many there are, none reaches its time limit.
 */
export async function putBackMailboxes(tx: Sql, partition: number): Promise<number> {
  let total = 0;
  for (;;) {
    const rows = await tx.query('putBackMailboxes', PUT_BACK, [queueName('mailbox', partition), LIMITS.put_back_jobs]);
    total += rows.length;
    if (rows.length < LIMITS.put_back_jobs) return total;
  }
}
