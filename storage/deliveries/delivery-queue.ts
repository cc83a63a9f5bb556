import type { Sql } from '../postgres/database.js';
import { JOB_COLUMNS, JOB_FOREVER } from '../postgres/jobs.js';

/**
 * Which subscriptions have deliveries to make, and from when on: one job a subscription in the queue `delivery-<partition>`,
 * the job's id is the subscription's. Deliveries themselves stand in no queue: the owner of the partition claims
 * those that are due, in the order they became due (`startDeliveries`). So a backlog of any length is one job, whether its receiver takes
 * it or not.
 *
 *     recorded, replayed, recovered ─▶ created ──fetched──▶ active ──nothing is due──▶ created   until the next retry is due
 *                                         ▲                   │ │
 *                                         └─recorded, replayed┘ └──nothing is left──▶ deleted
 *
 * I1 a subscription with a delivery that is pending or sending has a job;
 * I2 it is due no later than the first of its pending deliveries, or its owner has looked since: who adds a pending delivery makes
 *    the job due in the same transaction (`wakeSubscriptions`), and the owner puts it off only if nobody has touched it since.
 *
 * Jobs are locked in order of (name, id) by every statement here that waits for them.
 */
export interface QueuedSubscription {
  id: string;
  partition: number;
}

/** Ends an insert of jobs that are due now: one that is there already becomes due, whatever it waited for. */
export const MAKE_DUE = `on conflict (name, id) do update
  set state = 'created', started_on = null, start_after = least(j.start_after, excluded.start_after)
  where j.state <> 'created' or j.start_after > excluded.start_after`;

/** Makes the jobs of these subscriptions due from `at` on. In the transaction that makes their deliveries pending. */
export async function wakeSubscriptions(tx: Sql, subscriptions: QueuedSubscription[], at: Date): Promise<void> {
  if (subscriptions.length === 0) return;
  await tx.query(
    'wakeSubscriptions',
    `insert into pgboss.job_common as j (${JOB_COLUMNS})
     select distinct i.id, 'delivery-' || i.partition as name, 'created'::pgboss.job_state, null::timestamptz, $3::timestamptz, ${JOB_FOREVER}
     from unnest($1::uuid[], $2::smallint[]) i(id, partition)
     order by name, id
     ${MAKE_DUE}`,
    [subscriptions.map((s) => s.id), subscriptions.map((s) => s.partition), at],
  );
}

/** A subscription and the epoch its owner holds its partition under. */
export interface OwnedSubscription extends QueuedSubscription {
  epoch: number;
}

/**
 * When the next of its deliveries is due, null when none is pending. Not `looked`: somebody else has the job in hand, or changed it
 * meanwhile; it is left as it is, to be asked for again.
 */
export interface Rest {
  id: string;
  due: Date | null;
  looked: boolean;
}

/**
 * The owner found nothing due: each job is put off until the next retry, or deleted when no delivery is left. Left out are those that
 * have no job any more, or whose epoch is stale. It waits for no lock on a job: who records for several workspaces in one
 * transaction holds jobs in no order. Index: delivery_due.
 */
export function restSubscriptions(db: Sql, subscriptions: OwnedSubscription[]): Promise<Rest[]> {
  return db.query<Rest>(
    'restSubscriptions',
    `with input as (
       select * from unnest($1::uuid[], $2::smallint[], $3::bigint[]) i(id, partition, epoch)
     ), fence as materialized (
       select p.id, p.epoch from partition p
       where (p.id, p.epoch) in (select i.partition, i.epoch from input i) order by p.id for key share
     ), seen as materialized (
       select j.name, j.id, j.state, j.started_on, j.start_after
       from input i join fence f on f.id = i.partition and f.epoch = i.epoch
       join pgboss.job_common j on j.name = 'delivery-' || i.partition and j.id = i.id
     ), held as materialized (
       select s.*,
         (select d.next_attempt_at from delivery d where d.subscription_id = s.id and d.status = 'pending'
          order by d.next_attempt_at limit 1) as due,
         exists (select 1 from delivery d where d.subscription_id = s.id and d.status = 'sending') as sending
       from seen s join pgboss.job_common j on j.name = s.name and j.id = s.id
       -- What was locked is the newest version of the row; what is due was read before it, if these differ.
       where j.state = s.state and j.started_on is not distinct from s.started_on and j.start_after = s.start_after
       for update of j skip locked
     ), gone as (
       delete from pgboss.job_common j using held h
       where j.name = h.name and j.id = h.id and h.state = 'active' and h.due is null and not h.sending
     ), later as (
       update pgboss.job_common j set state = 'created', started_on = null, start_after = h.due
       from held h where j.name = h.name and j.id = h.id and (h.state = 'active' or h.due < h.start_after) and h.due is not null
     )
     select s.id, h.due, h.id is not null as looked from seen s left join held h on h.name = s.name and h.id = s.id`,
    [subscriptions.map((s) => s.id), subscriptions.map((s) => s.partition), subscriptions.map((s) => s.epoch)],
  );
}
