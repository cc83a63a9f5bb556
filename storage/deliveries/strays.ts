import {
  fetchedJobPage,
  fetchedSince,
  joinJob,
  joinUnchangedJob,
  putBackSeenJobs,
  SEEN_JOB,
} from '../jobs/job-table.js';
import type { Database, Sql } from '../postgres/database.js';
import { wakeSubscriptions } from './delivery-queue.js';
import { RECOVER, RECOVER_LOST, WITH_ATTEMPT } from './recovery.js';

/**
 * What the owner of a partition does not have in hand although rows and jobs say so, because the answer of a statement was lost
 * or the statement itself came late: a job that was fetched, a delivery that was started. Nobody else looks for them: the
 * owner compares what it owns with what it has in hand, and puts right what disagrees.
 */
export interface OwnedQueue {
  partition: number;
  epoch: number;
  /** The job after which the page of jobs begins; undefined for the first one. */
  after: string | undefined;
}

/** A fetched job of a subscription. */
export interface FetchedJob {
  id: string;
  partition: number;
  /** When it was fetched, as text: a `Date` would cut off the microseconds. */
  since: string;
}

/** A delivery that is `sending`, with its open attempt. */
export interface OpenAttempt {
  delivery_id: string;
  attempt_id: string | null;
  partition: number;
}

export interface HeldPage {
  jobs: FetchedJob[];
  /** Of each partition the last job of its page; null when the page was the last one. */
  cursors: { partition: number; last: string | null }[];
}

const FIRST = '00000000-0000-0000-0000-000000000000';

const PAGE = `
  select i.partition, case when cardinality(page.ids) = $3 then page.ids[$3] end as last, page.fetched
  from ${fetchedJobPage({
    queue: 'delivery',
    from: 'unnest($1::smallint[], $2::uuid[]) i(partition, after)',
    partition: 'i.partition',
    after: 'i.after',
    limit: '$3::integer',
  })}`;

/** The fetched jobs in the next `limit` jobs of each of these queues. */
export async function fetchedJobs(db: Sql, queues: OwnedQueue[], limit: number): Promise<HeldPage> {
  const rows = await db.query<{ partition: number; last: string | null; fetched: { id: string; since: string }[] }>(
    'fetchedJobs',
    PAGE,
    [queues.map(({ partition }) => partition), queues.map(({ after }) => after ?? FIRST), limit],
  );
  return {
    jobs: rows.flatMap(({ partition, fetched }) => fetched.map((job) => ({ ...job, partition }))),
    cursors: rows.map(({ partition, last }) => ({ partition, last })),
  };
}

/** The open attempt of a delivery (`d`). A node of the version before gave it a row with its start, and leaves what stands in the delivery's as it is. */
const OPEN = `coalesce((select a.id from delivery_attempt a where a.delivery_id = d.id and a.outcome = 'sending'), d.attempt_id)`;

/** Deliveries of these partitions that are `sending` with none of these attempts, `limit` at most. Index: delivery_live. */
export function openAttempts(
  db: Sql,
  partitions: number[],
  inHand: readonly string[],
  limit: number,
): Promise<OpenAttempt[]> {
  return db.query<OpenAttempt>(
    'openAttempts',
    `select d.id as delivery_id, o.attempt_id, d.partition
     from delivery d cross join lateral (select ${OPEN} as attempt_id) o
     where d.partition = any($1) and d.status = 'sending' and (o.attempt_id is null or o.attempt_id <> all($2::uuid[])) limit $3`,
    [partitions, inHand, limit],
  );
}

/** A partition, and the epoch its owner holds it under. */
export interface Held {
  id: number;
  epoch: number;
}

const FENCE = `select p.id from partition p
  where (p.id, p.epoch) in (select * from unnest($1::smallint[], $2::bigint[])) order by p.id for key share`;

const PUT_BACK = `
  with fence as materialized (${FENCE}), seen as materialized (
    select ${SEEN_JOB}
    from ${joinJob({
      queue: 'delivery',
      from: 'unnest($3::uuid[], $4::smallint[], $5::text[]) i(id, partition, since) join fence f on f.id = i.partition',
      partition: 'i.partition',
      id: 'i.id',
    })} and ${fetchedSince('i.since')}
  ), examined as materialized (
    select s.* from ${joinUnchangedJob('seen')} for update of j skip locked
  ), put_back as (
    ${putBackSeenJobs('examined', 's.job_due', 'true')}
  )
  select id from examined`;

/** Puts these jobs back, due as they were, unless they have changed since or their partition is held under another epoch. Returns their ids. */
export async function putBackStrays(db: Sql, held: Held[], jobs: FetchedJob[]): Promise<string[]> {
  const rows = await db.query<{ id: string }>('putBackStrays', PUT_BACK, [
    held.map(({ id }) => id),
    held.map(({ epoch }) => epoch),
    jobs.map(({ id }) => id),
    jobs.map(({ partition }) => partition),
    jobs.map(({ since }) => since),
  ]);
  return rows.map(({ id }) => id);
}

/**
 * sending → pending and due for deliveries whose open attempt is still this one, as the recovery of a partition does it (EVT-6): the
 * attempt may have been sent by a statement's late end, so it is closed as abandoned and keeps its number. Nothing when the
 * partition is held under another epoch. Returns the ids of the deliveries.
 */
export function recoverStrays(db: Database, held: Held[], attempts: OpenAttempt[]): Promise<string[]> {
  return db.transaction(async (tx) => {
    // The deliveries are locked first, and their attempts looked at afterwards: a statement that took one back may have been late, and
    // another attempt may have begun.
    const locked = await tx.query<{ id: string }>(
      'lockStrays',
      `with fence as materialized (${FENCE})
       select d.id from delivery d join fence f on f.id = d.partition
       where d.id = any($3::uuid[]) and d.status ${RECOVER.from} order by d.id for update of d skip locked`,
      [held.map(({ id }) => id), held.map(({ epoch }) => epoch), attempts.map(({ delivery_id }) => delivery_id)],
    );
    const ids = new Set(locked.map(({ id }) => id));
    const strays = attempts.filter(({ delivery_id }) => ids.has(delivery_id));
    if (strays.length === 0) return [];
    const rows = await tx.query<{ delivery_id: string; id: string; partition: number }>(
      'recoverStrays',
      `with lost as materialized (
         select ${WITH_ATTEMPT}, d.subscription_id, d.partition
         from unnest($1::uuid[], $2::uuid[]) i(id, attempt_id) join delivery d on d.id = i.id
         where ${OPEN} is not distinct from i.attempt_id
       ), ${RECOVER_LOST}
       select id as delivery_id, subscription_id as id, partition from lost`,
      [strays.map(({ delivery_id }) => delivery_id), strays.map(({ attempt_id }) => attempt_id)],
    );
    await wakeSubscriptions(tx, rows);
    return rows.map(({ delivery_id }) => delivery_id);
  });
}
