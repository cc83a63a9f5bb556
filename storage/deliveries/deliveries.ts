import type { EventType } from '../model/records.js';
import type { Sql } from '../postgres/database.js';
import { removeJobs } from '../postgres/jobs.js';
import { type OwnedSubscription, wakeSubscriptions } from './delivery-queue.js';

/**
 * The fenced writes of deliveries and their attempts (contract: "Delivery"; EVT-6). Each takes a batch.
 *
 *     recorded, replayed ─▶ pending ─▶ sending ─▶ delivered
 *                              ▲          │─────▶ failed      the fifth attempt of a series failed
 *                              └──────────┘                   an earlier one failed, or its worker was lost
 *     pending, sending ─▶ canceled                            the subscription was deactivated: left by nothing
 *
 * Fence: an attempt holds (delivery, epoch, attempt). A start locks the partition's row FOR KEY SHARE and writes only while
 * the epoch is the same, so a take-over waits for it or makes it write nothing. A finish is held by the delivery's own
 * row: recovery changes its status under a row lock, so a former owner matches no row. Rows are locked in order of their ids.
 */
export interface HeldDelivery {
  id: string;
  epoch: number;
  attemptId: string;
}

/** A delivery that went from pending to sending, with all its sender needs. */
export interface StartedDelivery extends HeldDelivery {
  subscription_id: string;
  connection_id: string;
  callback_url: string;
  secret_sealed: Buffer;
  previous_secret_sealed: Buffer | null;
  previous_valid_until: Date | null;
  event_id: string;
  event_type: EventType;
  provider_event_id: string;
  received_at: Date;
  /** The event's `data`, as JSON text. */
  event_data: string;
  /** Number of this attempt over all series, from 1. */
  attempt_count: number;
}

/** What one subscription may start: at most `attempts.length` deliveries, one for each of these new attempts. */
export interface Claim {
  subscription: OwnedSubscription;
  attemptIds: string[];
}

/**
 * pending → sending for deliveries that are due, oldest due first, each with one of the attempts given, started `at`. Fewer
 * come back than were asked for when no more is due, or the epoch is stale. Safe to commit without waiting for the
 * disk: a start that is lost leaves the delivery pending, to be made again. Index: delivery_due.
 */
export async function startDeliveries(db: Sql, claims: Claim[], at: Date): Promise<StartedDelivery[]> {
  return db.query<StartedDelivery>(
    'startDeliveries',
    `with input as (
       select * from unnest($1::uuid[], $2::smallint[], $3::bigint[], $4::integer[], $5::integer[])
         i(subscription_id, partition, epoch, most, first)
     ), fence as materialized (
       select p.id, p.epoch from partition p
       where (p.id, p.epoch) in (select i.partition, i.epoch from input i) order by p.id for key share
     ), due as materialized (
       select d.id, i.epoch, i.first, (row_number() over (partition by i.subscription_id))::integer as turn
       from input i join fence f on f.id = i.partition and f.epoch = i.epoch
       cross join lateral (
         select d.id from delivery d
         where d.subscription_id = i.subscription_id and d.status = 'pending' and d.next_attempt_at <= greatest(now(), $7)
         order by d.next_attempt_at, d.event_id limit i.most for update skip locked) d
     ), started as (
       update delivery d set status = 'sending', epoch = x.epoch, next_attempt_at = null,
         attempt_count = d.attempt_count + 1, series_attempts = d.series_attempts + 1
       from due x where d.id = x.id
       returning d.id, d.subscription_id, d.partition, d.epoch, d.event_id, d.attempt_count, ($6::uuid[])[x.first + x.turn] as attempt_id
     ), attempt as (
       insert into delivery_attempt (id, delivery_id, sequence, outcome, started_at)
       select s.attempt_id, s.id, s.attempt_count, 'sending', $7 from started s
     )
     select s.id, s.epoch, s.attempt_id as "attemptId", s.subscription_id, b.connection_id, b.callback_url, b.secret_sealed,
       b.previous_secret_sealed, b.previous_valid_until, s.event_id, e.type as event_type, e.provider_event_id,
       e.received_at, e.data::text as event_data, s.attempt_count
     from started s join subscription b on b.id = s.subscription_id join event e on e.id = s.event_id
     order by s.event_id`,
    [
      claims.map(({ subscription }) => subscription.id),
      claims.map(({ subscription }) => subscription.partition),
      claims.map(({ subscription }) => subscription.epoch),
      claims.map(({ attemptIds }) => attemptIds.length),
      claims.map((_, i) => claims.slice(0, i).reduce((sum, { attemptIds }) => sum + attemptIds.length, 0)),
      claims.flatMap(({ attemptIds }) => attemptIds),
      at,
    ],
  );
}

/**
 * Takes back starts whose answer was lost on the way: whatever of these attempts was written goes, and its delivery is pending again, due
 * `at`. Nothing of them was sent.
 */
export async function undoStarts(db: Sql, attemptIds: string[], at: Date): Promise<void> {
  await db.query(
    'undoStarts',
    `with undone as (
       delete from delivery_attempt where id = any($1) and outcome = 'sending' returning delivery_id
     )
     update delivery d set status = 'pending', epoch = null, next_attempt_at = $2,
       attempt_count = d.attempt_count - 1, series_attempts = d.series_attempts - 1
     from undone u where d.id = u.delivery_id and d.status = 'sending'`,
    [attemptIds, at],
  );
}

/** How an attempt ended. `error` is its class, null when it was delivered. */
export interface FinishedAttempt extends HeldDelivery {
  outcome: 'delivered' | 'failed';
  statusCode: number | null;
  error: string | null;
}

/** What became of the delivery; `nextAttemptAt` is set while it is pending. */
export interface FinishedDelivery {
  id: string;
  status: 'delivered' | 'failed' | 'pending' | 'canceled';
  nextAttemptAt: Date | null;
}

/**
 * sending → delivered, failed, or pending until the next attempt is due; the attempt is closed. `waits_s` are the seconds between the attempts of a series: one more attempt than
 * waits is made. A delivery that was canceled meanwhile stays so, its attempt is closed as canceled with what was seen.
 * Those that are no longer held are left out.
 */
export async function finishDeliveries(
  db: Sql,
  attempts: FinishedAttempt[],
  at: Date,
  waits_s: readonly number[],
): Promise<FinishedDelivery[]> {
  return db.query<FinishedDelivery>(
    'finishDeliveries',
    `with input as (
       select * from unnest($1::uuid[], $2::bigint[], $3::uuid[], $4::text[], $5::integer[], $6::text[])
         i(id, epoch, attempt_id, outcome, status_code, error)
     ), locked as materialized (
       select d.id, d.status, d.epoch, d.series_attempts
       from delivery d where d.id = any($1) order by d.id for update
     ), judged as materialized (
       select i.*, case when l.status = 'canceled' then 'canceled' when i.outcome = 'delivered' then 'delivered'
           when l.series_attempts > cardinality($8::integer[]) then 'failed' else 'pending' end as becomes,
         $7::timestamptz + ($8::integer[])[l.series_attempts] * interval '1 second' as due
       from input i join locked l on l.id = i.id join delivery_attempt a on a.id = i.attempt_id
       where l.status = 'canceled' or (l.status = 'sending' and l.epoch = i.epoch and a.outcome = 'sending')
     ), finished as (
       update delivery d set status = j.becomes, epoch = null,
         next_attempt_at = case when j.becomes = 'pending' then j.due end,
         delivered_at = case when j.becomes = 'delivered' then $7 end,
         last_error = case when j.error = 'status' then 'status_' || j.status_code else j.error end
       from judged j where d.id = j.id and j.becomes <> 'canceled'
     ), closed as (
       update delivery_attempt a set outcome = case when j.becomes = 'canceled' then 'canceled' else j.outcome end,
         status_code = j.status_code, error = j.error, completed_at = $7
       from judged j where a.id = j.attempt_id and a.outcome = 'sending'
     )
     select id, becomes as status, case when becomes = 'pending' then due end as "nextAttemptAt" from judged`,
    [
      attempts.map((a) => a.id),
      attempts.map((a) => a.epoch),
      attempts.map((a) => a.attemptId),
      attempts.map((a) => a.outcome),
      attempts.map((a) => a.statusCode),
      attempts.map((a) => a.error),
      at,
      waits_s,
    ],
  );
}

/**
 * Part of a partition's recovery: what its former owner left sending goes back to pending, due `at`, and the open
 * attempt is closed as abandoned (EVT-6). The attempt may have reached the receiver, so it keeps its number; it does
 * not count towards the five of the series, because they judge the receiver and this one says nothing about it. The jobs
 * of their subscriptions become due; those that were fetched are released by the caller. Gives how many there were.
 */
export async function recoverDeliveries(tx: Sql, partitions: number[], at: Date): Promise<number> {
  const rows = await tx.query<{ id: string; partition: number }>(
    'recoverDeliveries',
    `with lost as materialized (
       select d.id, d.subscription_id, d.partition from delivery d where d.partition = any($1) and d.status = 'sending' order by d.id for update
     ), recovered as (
       update delivery d set status = 'pending', epoch = null, next_attempt_at = $2,
         series_attempts = greatest(d.series_attempts - 1, 0)
       from lost l where d.id = l.id
     ), abandoned as (
       update delivery_attempt a set outcome = 'abandoned', completed_at = $2
       from lost l where a.delivery_id = l.id and a.outcome = 'sending'
     )
     select subscription_id as id, partition from lost`,
    [partitions, at],
  );
  await wakeSubscriptions(tx, rows, at);
  return rows.length;
}

/**
 * pending, sending → canceled for these subscriptions of one partition, in the transaction that deactivates them: open
 * attempts are closed, because their sender may be lost before it can say how they ended, and jobs are removed. Rows
 * are locked in id order, as every other statement over many deliveries does.
 */
export async function cancelDeliveries(tx: Sql, partition: number, subscriptionIds: string[]): Promise<void> {
  await tx.query(
    'cancelDeliveries',
    `with doomed as materialized (
       select id from delivery where subscription_id = any($1) and status in ('pending', 'sending') order by id for update
     ), canceled as (
       update delivery d set status = 'canceled', next_attempt_at = null from doomed x where d.id = x.id
     ), closed as (
       update delivery_attempt a set outcome = 'canceled', completed_at = now()
       from doomed x where a.delivery_id = x.id and a.outcome = 'sending'
     )
     select from doomed`,
    [subscriptionIds],
  );
  await removeJobs(tx, 'delivery', partition, subscriptionIds);
}
