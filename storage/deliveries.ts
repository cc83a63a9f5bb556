import type { Sql } from './database.js';
import { queueName, removeJobs, rescheduleJobs } from './jobs.js';
import type { EventType } from './records.js';

/**
 * The fenced writes of deliveries and their attempts (spec: "Delivery"; decision E6). Each takes a batch.
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
  partition: number;
  epoch: number;
  attemptId: string;
}

/** A delivery that went from pending to sending, with all its sender needs. */
export interface StartedDelivery {
  outcome: 'started';
  id: string;
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

/**
 * Why a delivery did not start. `settled`: it is delivered, failed, canceled or gone, and its job can go; `held`: it is
 * sending already; `fenced`: the epoch is stale and nothing was written.
 */
export type StartOutcome = StartedDelivery | { outcome: 'settled' | 'held' | 'fenced'; id: string };

/** Which subscription each delivery belongs to. Deliveries that are gone are left out. */
export async function deliverySubscriptions(
  db: Sql,
  ids: string[],
): Promise<{ id: string; subscription_id: string }[]> {
  return db.query('deliverySubscriptions', 'select id, subscription_id from delivery where id = any($1)', [ids]);
}

/** pending → sending, with a new attempt that starts `at`. One outcome for each delivery, in no particular order. */
export async function startDeliveries(db: Sql, deliveries: HeldDelivery[], at: Date): Promise<StartOutcome[]> {
  return db.query<StartOutcome>(
    'startDeliveries',
    `with input as (
       select * from unnest($1::uuid[], $2::smallint[], $3::bigint[], $4::uuid[]) i(id, partition, epoch, attempt_id)
     ), fence as materialized (
       select p.id, p.epoch from partition p
       where (p.id, p.epoch) in (select i.partition, i.epoch from input i) order by p.id for key share
     ), locked as materialized (
       select d.id, d.status from delivery d where d.id = any($1) order by d.id for update
     ), started as (
       update delivery d set status = 'sending', epoch = i.epoch, next_attempt_at = null,
         attempt_count = d.attempt_count + 1, series_attempts = d.series_attempts + 1
       from input i join fence f on f.id = i.partition and f.epoch = i.epoch join locked l on l.id = i.id
       where d.id = i.id and d.partition = i.partition and l.status = 'pending'
       returning d.id, d.subscription_id, d.event_id, d.attempt_count, i.attempt_id
     ), attempt as (
       insert into delivery_attempt (id, delivery_id, sequence, outcome, started_at)
       select s.attempt_id, s.id, s.attempt_count, 'sending', $5 from started s
     )
     select case when s.id is not null then 'started' when f.id is null then 'fenced'
         when l.status in ('pending', 'sending') then 'held' else 'settled' end as outcome,
       i.id, s.subscription_id, b.connection_id, b.callback_url, b.secret_sealed, b.previous_secret_sealed,
       b.previous_valid_until, s.event_id, e.type as event_type, e.provider_event_id, e.received_at,
       e.data::text as event_data, s.attempt_count
     from input i
     left join fence f on f.id = i.partition and f.epoch = i.epoch
     left join locked l on l.id = i.id
     left join started s on s.id = i.id
     left join subscription b on b.id = s.subscription_id
     left join event e on e.id = s.event_id`,
    [
      deliveries.map((d) => d.id),
      deliveries.map((d) => d.partition),
      deliveries.map((d) => d.epoch),
      deliveries.map((d) => d.attemptId),
      at,
    ],
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
 * sending → delivered, failed, or pending until the next attempt is due; the attempt is closed and the job deleted or
 * put back in the same statement, which saves the round trips of a transaction around several. `waits_s` are the seconds between the attempts of a series: one more attempt than
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
       select d.id, d.partition, d.status, d.epoch, d.series_attempts
       from delivery d where d.id = any($1) order by d.id for update
     ), judged as materialized (
       select i.*, 'delivery-' || l.partition as queue, case when l.status = 'canceled' then 'canceled' when i.outcome = 'delivered' then 'delivered'
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
     ), done as (
       delete from pgboss.job_common b using judged j
       where j.becomes <> 'pending' and b.name = j.queue and b.id = j.id
     ), again as (
       update pgboss.job_common b set state = 'created', started_on = null, start_after = j.due
       from judged j where j.becomes = 'pending' and b.name = j.queue and b.id = j.id
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
 * Puts fetched deliveries back into their queues, to be fetched again from `startAfter` on: there is no room to hold
 * them. Those whose epoch is stale are left to the new owner. Run it in a transaction.
 */
export async function putBackDeliveries(
  tx: Sql,
  deliveries: { id: string; partition: number; epoch: number; startAfter: Date }[],
): Promise<void> {
  const owned = await tx.query<{ id: number; epoch: number }>(
    'fencePartitions',
    `select p.id, p.epoch from partition p
     where (p.id, p.epoch) in (select * from unnest($1::smallint[], $2::bigint[])) order by p.id for key share`,
    [deliveries.map((d) => d.partition), deliveries.map((d) => d.epoch)],
  );
  const epochs = new Map(owned.map((p) => [p.id, p.epoch]));
  const held = deliveries.filter((d) => epochs.get(d.partition) === d.epoch);
  if (held.length > 0) {
    await rescheduleJobs(
      tx,
      held.map(({ id, partition, startAfter }) => ({ queue: 'delivery', partition, id, startAfter })),
    );
  }
}

/** How a backlog is spread: one delivery each `pace_ms` while that ends within the spread, else, or without one, evenly. */
export interface BacklogSpread {
  pace_ms: number | null;
  /** For each delivery of the backlog, within the bounds. */
  spread_ms: number;
  spread_min_ms: number;
  spread_max_ms: number;
}

/**
 * Puts off every job of the subscription that is due and not fetched yet, in one statement: its receiver cannot take them
 * now, and fetching them only to put them back would hold up the other subscriptions of the partition for as long. Gives
 * how many and when the first is due again; nothing under a stale epoch. It waits for no lock on a job. Index: delivery_by_status.
 */
export async function putOffBacklog(
  db: Sql,
  subscription: { id: string; partition: number; epoch: number },
  from: Date,
  { pace_ms, spread_ms, spread_min_ms, spread_max_ms }: BacklogSpread,
): Promise<{ count: number; first: Date | null }> {
  const [row] = await db.query<{ count: number; first: Date | null }>(
    'putOffBacklog',
    `with fence as materialized (
       select p.id from partition p where p.id = $2 and p.epoch = $3 for key share
     ), due as materialized (
       select j.name, j.id, d.event_id
       from delivery d join pgboss.job_common j on j.name = $4 and j.id = d.id
       where d.subscription_id = $1 and d.status = 'pending' and exists (select 1 from fence)
         and j.state = 'created' and j.start_after <= greatest(now(), $5)
       for update of j skip locked
     ), backlog as materialized (
       select name, id, row_number() over (order by event_id) * $6::float8 as turn_ms,
         least(greatest(count(*) over () * $7::float8, $8), $9) as spread_ms
       from due
     ), put_off as (
       update pgboss.job_common j
       set start_after = $5 + interval '1 millisecond'
         * case when b.turn_ms <= b.spread_ms then b.turn_ms else random() * b.spread_ms end
       from backlog b
       where j.name = b.name and j.id = b.id
       returning j.start_after
     )
     select count(*)::int as count, min(start_after) as first from put_off`,
    [
      subscription.id,
      subscription.partition,
      subscription.epoch,
      queueName('delivery', subscription.partition),
      from,
      pace_ms,
      spread_ms,
      spread_min_ms,
      spread_max_ms,
    ],
  );
  return row ?? { count: 0, first: null };
}

/**
 * Takes the jobs of a subscription's backlog, in order of its events from `afterEvent` on, as a fetch from the queue would:
 * those whose attempt is due and that were put off only because there was no room. Gives them in that order; none under a stale
 * epoch. Index: delivery_by_status.
 */
export async function takeBacklog(
  db: Sql,
  subscription: { id: string; partition: number; epoch: number },
  afterEvent: string,
  at: Date,
  limit: number,
): Promise<{ id: string; event_id: string }[]> {
  return db.query<{ id: string; event_id: string }>(
    'takeBacklog',
    `with fence as materialized (
       select p.id from partition p where p.id = $2 and p.epoch = $3 for key share
     ), chosen as materialized (
       select j.name, j.id, d.event_id
       from delivery d join pgboss.job_common j on j.name = $4 and j.id = d.id
       where d.subscription_id = $1 and d.status = 'pending' and d.event_id > $5 and exists (select 1 from fence)
         and d.next_attempt_at <= greatest(now(), $6) and j.state = 'created'
       order by d.event_id limit $7 for update of j skip locked
     ), taken as (
       update pgboss.job_common j set state = 'active', started_on = now()
       from chosen c where j.name = c.name and j.id = c.id
     )
     select id, event_id from chosen order by event_id`,
    [
      subscription.id,
      subscription.partition,
      subscription.epoch,
      queueName('delivery', subscription.partition),
      afterEvent,
      at,
      limit,
    ],
  );
}

/**
 * Part of a partition's recovery: what its former owner left sending goes back to pending, due `at`, and the open
 * attempt is closed as abandoned (decision E6). The attempt may have reached the receiver, so it keeps its number; it does
 * not count towards the five of the series, because they judge the receiver and this one says nothing about it. The jobs
 * are released by the caller. Gives how many there were.
 */
export async function recoverDeliveries(tx: Sql, partitions: number[], at: Date): Promise<number> {
  const rows = await tx.query<{ id: string }>(
    'recoverDeliveries',
    `with lost as materialized (
       select d.id from delivery d where d.partition = any($1) and d.status = 'sending' order by d.id for update
     ), recovered as (
       update delivery d set status = 'pending', epoch = null, next_attempt_at = $2,
         series_attempts = greatest(d.series_attempts - 1, 0)
       from lost l where d.id = l.id
     ), abandoned as (
       update delivery_attempt a set outcome = 'abandoned', completed_at = $2
       from lost l where a.delivery_id = l.id and a.outcome = 'sending'
     )
     select id from lost`,
    [partitions, at],
  );
  return rows.length;
}

/**
 * pending, sending → canceled for these subscriptions of one partition, in the transaction that deactivates them: open
 * attempts are closed, because their sender may be lost before it can say how they ended, and jobs are removed. Rows
 * are locked in id order, as every other statement over many deliveries does.
 */
export async function cancelDeliveries(tx: Sql, partition: number, subscriptionIds: string[]): Promise<void> {
  const rows = await tx.query<{ id: string }>(
    'cancelDeliveries',
    `with doomed as materialized (
       select id from delivery where subscription_id = any($1) and status in ('pending', 'sending') order by id for update
     ), canceled as (
       update delivery d set status = 'canceled', next_attempt_at = null from doomed x where d.id = x.id
     ), closed as (
       update delivery_attempt a set outcome = 'canceled', completed_at = now()
       from doomed x where a.delivery_id = x.id and a.outcome = 'sending'
     )
     select id from doomed`,
    [subscriptionIds],
  );
  if (rows.length === 0) return;
  await removeJobs(
    tx,
    'delivery',
    partition,
    rows.map((row) => row.id),
  );
}
