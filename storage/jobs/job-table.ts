import { LIMITS } from '../limits.js';
import type { Sql } from '../postgres/database.js';
import { QUEUE_KINDS, type QueueKind, queueName } from './jobs.js';

/**
 * The one file that knows pg-boss's job table: fragments for the statements that change a job together with a row of ours,
 * and statements that touch jobs alone.
 *
 * pg-boss's API takes one queue a call and a transaction of its own; these take many queues, inside a statement. They
 * rely on this of pg-boss: (name, id) is the primary key; `created` can be fetched once start_after has passed, `active` cannot;
 * a fetch orders by created_on. Statements that wait for locks on jobs take them in the order of (name, id).
 */
export const JOBS = 'pgboss.job_common';

/** Our leases decide what is lost, so a job never expires by itself: these outlive every timer of pg-boss, by 60 years. */
export const NEVER_EXPIRES = `2147483647, now() + interval '60 years'`;

export interface JobRef {
  queue: QueueKind;
  partition: number;
  id: string;
}

/** A row in the FROM list of the statement, with expressions for the job it stands for. */
export interface JobSource {
  queue: QueueKind;
  /** The FROM item, with its alias. */
  from: string;
  partition: string;
  id: string;
}

const isJobOf = (source: Omit<JobSource, 'from'>) =>
  `j.name = '${source.queue}-' || ${source.partition} and j.id = ${source.id}`;

/** True for the job `j` that could be fetched now. */
export const isDue = `j.state < 'active' and not j.blocked and j.start_after <= now()`;

/** True where the queue of this partition holds no job. The order has one step of the index answer it, whatever the planner expects. */
export const hasNoJob = (queue: QueueKind, partition: string): string =>
  `(select j.id from ${JOBS} j where j.name = '${queue}-' || ${partition} order by j.name, j.id limit 1) is null`;

/** The ids of the queue's jobs after the id `after`, fetched or not, in the order of their ids, `limit` at most. */
export function jobPage(queue: QueueKind, partition: string, after: string, limit: string): string {
  return `select j.id, j.state, j.data from ${JOBS} j where j.name = '${queue}-' || ${partition} and j.id > ${after} order by j.id limit ${limit}`;
}

/**
 * Makes a job for each row due from `due` on. A job that is there already becomes due as well, whatever it waited for: it is put
 * back when it was fetched, and never put off; with `kept` one that was fetched stays so, changed: whoever parks it looks again. No job may occur twice.
 */
export function makeJobsDue(source: JobSource & { due: string; kept?: boolean }): string {
  const earlier = 'least(j.start_after, excluded.start_after)';
  const change = source.kept
    ? `set start_after = case when j.state = 'active' then excluded.start_after else ${earlier} end`
    : `set state = 'created', started_on = null, start_after = ${earlier}
      where j.state <> 'created' or j.start_after > excluded.start_after`;
  return `insert into ${JOBS} as j (id, name, state, started_on, start_after, expire_seconds, keep_until)
    select ${source.id} as id, '${source.queue}-' || ${source.partition} as name, 'created'::pgboss.job_state,
      null::timestamptz, ${source.due}, ${NEVER_EXPIRES}
    from ${source.from} order by name, id
    on conflict (name, id) do update ${change}`;
}

/** The columns of a job that was read without a lock: what it is, and whether it changed since. */
export const SEEN_JOB = `j.name as queue_name, j.id, j.state = 'active' as fetched, j.start_after as job_due,
  j.state as seen_state, j.started_on as seen_started`;

/** Joins the job of each row, as `j`. */
export function joinJob(source: JobSource): string {
  return `${source.from} join ${JOBS} j on ${isJobOf(source)}`;
}

const isSeenJob = 'j.name = s.queue_name and j.id = s.id';

/** Reads the rows `s` of `seen`, with their jobs as `j`: only those whose job has not changed since. */
export function joinUnchangedJob(seen: string): string {
  return `${seen} s join ${JOBS} j on ${isSeenJob}
    where j.state = s.seen_state and j.started_on is not distinct from s.seen_started and j.start_after = s.job_due`;
}

/** Deletes the jobs of rows read with `SEEN_JOB` into the common table `seen`, where `where` holds. */
export function deleteSeenJobs(seen: string, where: string): string {
  return `delete from ${JOBS} j using ${seen} s where ${isSeenJob} and (${where})`;
}

/** Puts the jobs of rows read with `SEEN_JOB` into `seen` back, due at `due`, where `where` holds. */
export function putBackSeenJobs(seen: string, due: string, where: string): string {
  return `update ${JOBS} j set state = 'created', started_on = null, start_after = ${due}
    from ${seen} s where ${isSeenJob} and (${where})`;
}

/** The queue's jobs `j` that could be fetched now, as FROM and WHERE; a fetch takes them in the order of `FETCH_ORDER`. */
export function dueJobs(queue: QueueKind, partition: string): string {
  return `${JOBS} j where j.name = '${queue}-' || ${partition} and ${isDue}`;
}

/** In this order pg-boss fetches; its index by queue has it. */
export const FETCH_ORDER = 'j.priority desc, j.created_on';

/** Marks the jobs whose ids are in the common table `due`, which has locked them, as fetched. */
export function markFetched(queue: QueueKind, partition: string, due: string): string {
  return `update ${JOBS} j set state = 'active', started_on = now()
    from ${due} d where ${isJobOf({ queue, partition, id: 'd.id' })}`;
}

/**
 * One page of the jobs of each row's queue, in the order of their ids after `after`: `ids` are all of them, `fetched` are those that
 * are fetched, with when, as text. By the primary key, however many jobs the queue has.
 */
export function fetchedJobPage(source: Omit<JobSource, 'id'> & { after: string; limit: string }): string {
  return `${source.from} cross join lateral (
    select array_agg(p.id order by p.id) as ids,
      coalesce(jsonb_agg(jsonb_build_object('id', p.id, 'since', p.started_on::text)) filter (where p.state = 'active'), '[]') as fetched
    from (select j.id, j.state, j.started_on from ${JOBS} j
      where j.name = '${source.queue}-' || ${source.partition} and j.id > ${source.after} order by j.id limit ${source.limit}) p
  ) page`;
}

/** True for the job `j` when it is fetched, and was so at `since` (an expression, as text). */
export const fetchedSince = (since: string): string => `j.state = 'active' and j.started_on::text = ${since}`;

/** The ids of the jobs in these queues (an array expression), those that are due the longest first, `limit` at most. */
export function longestDueJobs(queues: string, limit: string): string {
  return `select id from ${JOBS} where name = any(${queues}) order by start_after limit ${limit}`;
}

/** The jobs `j` of these queues (an array expression) that are not fetched, those due the longest first, `limit` at most. */
export function waitingJobs(queues: string, limit: string): string {
  return `select j.id, j.data from ${JOBS} j where j.name = any(${queues}) and j.state < 'active' order by j.start_after limit ${limit}`;
}

/** The live jobs: their `queue` without its partition, whether they are `active` and `due`, and `due_at`. */
export const LIVE_JOBS = `select split_part(name, '-', 1) as queue, state = 'active' as active, start_after <= now() as due,
    start_after as due_at
  from ${JOBS} where state in ('created', 'retry', 'active')`;

/** Deletes jobs: their work is done, or must not be done any more. */
export async function removeJobs(tx: Sql, jobs: JobRef[]): Promise<void> {
  if (jobs.length === 0) return;
  await tx.query(
    'removeJobs',
    `with held as materialized (
       select j.name, j.id from ${JOBS} j join unnest($1::text[], $2::uuid[]) i(name, id)
         on j.name = i.name and j.id = i.id
       order by j.name, j.id for update of j
     )
     delete from ${JOBS} j using held h where j.name = h.name and j.id = h.id`,
    [jobs.map((job) => queueName(job.queue, job.partition)), jobs.map((job) => job.id)],
  );
}

/**
 * Puts the fetched jobs of a partition's queue of this kind back: their holder is gone. Part of recovery. Returns how many there were.
 * Takes a statement a page: however many there are, none reaches its time limit.
 */
export async function putBackJobs(tx: Sql, partition: number, queue: QueueKind): Promise<number> {
  let total = 0;
  for (;;) {
    const rows = await tx.query('putBackJobs', PUT_BACK, [queueName(queue, partition), LIMITS.put_back_jobs]);
    total += rows.length;
    if (rows.length < LIMITS.put_back_jobs) return total;
  }
}

const PUT_BACK = `
  with held as materialized (
    select j.name, j.id from ${JOBS} j where j.name = $1 and j.state = 'active' order by j.name, j.id limit $2 for update
  )
  update ${JOBS} j set state = 'created', started_on = null
  from held h where j.name = h.name and j.id = h.id
  returning j.id`;

/** Of these partitions, the queues that hold a job due now: the slow poll behind lost hints. */
export async function dueQueues(db: Sql, partitions: number[]): Promise<{ queue: QueueKind; partition: number }[]> {
  const rows = await db.query<{ name: string }>(
    'dueQueues',
    // One step of the index a queue, whatever the planner expects of the queues: it would read all jobs at once.
    `select q.name from unnest($1::text[]) q(name) cross join lateral (
       select from ${JOBS} j where j.name = q.name and ${isDue} limit 1) due`,
    [queuesOf(partitions)],
  );
  return rows.map(({ name }) => {
    const [queue, partition] = name.split('-') as [QueueKind, string];
    return { queue, partition: Number(partition) };
  });
}

const queuesOf = (partitions: number[]) => partitions.flatMap((p) => QUEUE_KINDS.map((kind) => queueName(kind, p)));
