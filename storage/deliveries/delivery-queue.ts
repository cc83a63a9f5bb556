import {
  deleteSeenJobs,
  dueJobs,
  FETCH_ORDER,
  joinJob,
  joinUnchangedJob,
  makeJobsDue,
  markFetched,
  putBackSeenJobs,
  SEEN_JOB,
} from '../jobs/job-table.js';
import type { Sql } from '../postgres/database.js';
import { findsRow } from '../postgres/finds-row.js';
import { triesDeliveries } from './subscriptions.js';

/**
 * Which subscriptions have deliveries to make, and from when on: one job a subscription in the queue `delivery-<partition>`,
 * the job's id is the subscription's. Deliveries themselves are in no queue: the owner of the partition claims
 * those that are due, in the order in which they became due (`startDeliveries`). So a backlog of any length is one job.
 *
 *     recorded, replayed, recovered ─▶ created ──fetched──▶ active ──parked, a retry is due later──▶ created
 *                                         ▲                   │ │
 *                                         └─recorded, replayed┘ └──parked, no delivery is left──▶ deleted
 *
 * I1 a subscription that is active and not on hold has a job while a delivery of it is pending or sending: a release makes it due (EVT-21);
 * I2 its job is due no later than the first of its pending deliveries, or its owner has examined it since: a transaction that makes
 *    a delivery pending makes the job due (`wakeSubscriptions`), and the owner parks a job only if it has not changed since.
 *
 * Every statement here that waits for locks on jobs takes them in the order of (name, id).
 */
export interface QueuedSubscription {
  id: string;
  partition: number;
}

/** Makes the jobs of these subscriptions due now (I2). In the transaction that makes their deliveries pending. */
export async function wakeSubscriptions(tx: Sql, subscriptions: QueuedSubscription[]): Promise<void> {
  if (subscriptions.length === 0) return;
  await tx.query('wakeSubscriptions', WAKE, [subscriptions.map((s) => s.id), subscriptions.map((s) => s.partition)]);
}

const WAKE = makeJobsDue({
  queue: 'delivery',
  from: '(select distinct * from unnest($1::uuid[], $2::smallint[]) s(id, partition)) s',
  partition: 's.partition',
  id: 's.id',
  due: 'now()',
});

/** A subscription whose job was fetched. `workspace_id` is null when the subscription is deleted: nothing of it is due. */
export interface FetchedSubscription {
  id: string;
  workspace_id: string | null;
  /** The hash of its workspace and of where its callbacks lead, in hexadecimal; null in rows that have none. */
  destination: string | null;
  /** Set while that destination is noted as paused: the class of its last error. */
  paused_reason: string | null;
}

/** Of which no more is fetched now. */
export interface FullShares {
  /** Their ids. */
  workspaces: readonly string[];
  /** As `FetchedSubscription` has them. */
  destinations: readonly string[];
}

// `fence`: as that of a start. The rest is pg-boss's fetch. A subscription that is deleted is in no share that could be full.
// No `exists`: PostgreSQL 18 would read all subscriptions for it.
const FETCH = `
  with fence as materialized (
    select p.id from partition p where p.id = $1 and p.epoch = $2 for key share
  ), due as materialized (
    select j.id
    from ${dueJobs('delivery', '$1::smallint')} and exists (select 1 from fence)
      and (cardinality($4::uuid[]) + cardinality($5::text[]) = 0 or (
        select s.workspace_id = any($4) or s.destination = any(array(select decode(d, 'hex') from unnest($5::text[]) d))
        from subscription s where s.id = j.id limit 1) is not true)
    order by ${FETCH_ORDER} limit $3 for update of j skip locked
  ), fetched as (
    ${markFetched('delivery', '$1::smallint', 'due')}
  )
  select d.id, s.workspace_id, encode(s.destination, 'hex') as destination, p.reason as paused_reason
  from due d left join subscription s on s.id = d.id left join callback_pause p on p.destination = s.destination`;

/**
 * Fetches the jobs of subscriptions of one partition that have something due, `limit` at most, those first that were first made: they
 * are this owner's until they are parked. None of what is `full`, which stays due; none when the epoch is stale.
 * Index: that of pg-boss's jobs by queue.
 */
export function fetchSubscriptions(
  db: Sql,
  partition: { id: number; epoch: number },
  limit: number,
  { workspaces, destinations }: FullShares,
): Promise<FetchedSubscription[]> {
  // A destination that is no hash is that of one subscription.
  const hashes = destinations.filter((one) => /^[0-9a-f]+$/.test(one));
  return db.query<FetchedSubscription>('fetchSubscriptions', FETCH, [
    partition.id,
    partition.epoch,
    limit,
    workspaces,
    hashes,
  ]);
}

/** A subscription and the epoch its owner holds its partition under. */
export interface OwnedSubscription extends QueuedSubscription {
  epoch: number;
}

/** What became of the job of a subscription with nothing due. */
export interface ParkedSubscription {
  id: string;
  /**
   * How long until the next of its deliveries is due, in milliseconds; null when none is pending. Not the moment: that is of the
   * database's clock, and the caller has its own.
   */
  due_in_ms: number | null;
  /** False when another transaction held or changed the job meanwhile: it was left as it is, and is to be parked again. */
  examined: boolean;
}

// I1 `deleted`, only where no delivery is left; I2 `examined`, only what has not changed since it was seen.
const PARK = `
  with input as (
    select * from unnest($1::uuid[], $2::smallint[], $3::bigint[]) i(id, partition, epoch)
  ), fence as materialized (
    select p.id, p.epoch from partition p
    where (p.id, p.epoch) in (select i.partition, i.epoch from input i) order by p.id for key share
  ), seen as materialized (
    select ${SEEN_JOB}
    from ${joinJob({
      queue: 'delivery',
      from: 'input i join fence f on f.id = i.partition and f.epoch = i.epoch',
      partition: 'i.partition',
      id: 'i.id',
    })}
  ), examined as materialized (
    select s.*,
      -- Of an inactive subscription nothing is due: what is still pending of it is being canceled. Nor of one on hold: its release makes
      -- the job due again. Asked before the deliveries are: a held backlog of any length is not read.
      case when ${findsRow(`from subscription b where b.id = s.id and ${triesDeliveries('b')}`)} then (
        select d.next_attempt_at from delivery d where d.subscription_id = s.id and d.status = 'pending'
        order by d.next_attempt_at limit 1) end as due,
      ${findsRow(`from delivery d where d.subscription_id = s.id and d.status = 'sending'`)} as sending
    from ${joinUnchangedJob('seen')}
    -- The lock is on the newest version of the job; what is due was read before it, if these differ.
    for update of j skip locked
  ), deleted as (
    ${deleteSeenJobs('examined', 's.fetched and s.due is null and not s.sending')}
  ), parked as (
    ${putBackSeenJobs('examined', 's.due', '(s.fetched or s.due < s.job_due) and s.due is not null')}
  )
  select s.id, extract(epoch from x.due - now())::float8 * 1000 as due_in_ms, x.id is not null as examined
  from seen s left join examined x on x.queue_name = s.queue_name and x.id = s.id`;

/**
 * The owner found nothing due: each job is parked until the next retry, or deleted when no delivery is left, or the subscription is inactive or on hold. One
 * is left out when it has no job any more, or its epoch is stale. No lock on a job is waited for: a transaction that
 * records events of several workspaces holds jobs in no order. Index: delivery_due.
 */
export function parkSubscriptions(db: Sql, subscriptions: OwnedSubscription[]): Promise<ParkedSubscription[]> {
  return db.query<ParkedSubscription>('parkSubscriptions', PARK, [
    subscriptions.map((s) => s.id),
    subscriptions.map((s) => s.partition),
    subscriptions.map((s) => s.epoch),
  ]);
}
