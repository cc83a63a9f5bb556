import { makeJobsDue } from '../jobs/job-table.js';
import type { DeliveryAttemptOutcome, DeliveryStatus, RecordedEventType } from '../model/records.js';
import { DELIVERY_ATTEMPT_STEPS, DELIVERY_STEPS } from '../model/transitions.js';
import { bigints, integers, smallints, texts, uuids } from '../postgres/arrays.js';
import type { Sql } from '../postgres/database.js';
import type { OwnedSubscription } from './delivery-queue.js';
import { formerSecrets } from './signing-secrets.js';
import { triesDeliveries } from './subscriptions.js';

/**
 * The fenced writes of deliveries and their attempts (contract: "Delivery"; EVT-6); `DELIVERY_STEPS` has the states. Each takes a batch.
 * What is due, and every time that is stored, is by the database's clock: nodes whose clocks differ make the same schedule.
 *
 * An attempt holds (delivery, epoch, attempt). Invariants:
 * I1 a start locks the partition's row FOR KEY SHARE and writes only while the epoch is the same, so a take-over waits for it
 *    or makes it write nothing;
 * I2 a finish is held by the delivery's own row: recovery changes its status under a row lock, so a former owner matches no row;
 * I3 a statement that waits for locks on several deliveries takes them in the order of the ids. Starts and finishes wait for none:
 *    one delivery that another transaction holds must not delay those of others.
 */
export interface HeldDelivery {
  id: string;
  epoch: number;
  attemptId: string;
}

/** An event as its callbacks tell it. */
export interface CallbackEvent {
  event_id: string;
  event_type: RecordedEventType;
  connection_id: string;
  provider_event_id: string;
  received_at: Date;
  /** The event's `data`: JSON text, or sealed. */
  event_data: string | null;
  event_data_sealed: Buffer | null;
}

/** A delivery that went from pending to sending, with all its sender needs. */
export interface StartedDelivery extends CallbackEvent {
  id: string;
  epoch: number;
  attempt_id: string;
  subscription_id: string;
  /** The subscription that has the address and the secrets, and is shown: itself, or that of its workspace. */
  owner_id: string;
  workspace_id: string;
  /** Not sealed, or null. */
  callback_url: string | null;
  callback_url_sealed: Buffer | null;
  /** Those that sign this attempt, the newest first. */
  secrets_sealed: Buffer[];
  /** The client's own id of the connection. */
  connection_reference: string | null;
  /** The trace of the operation that caused the event; null of any other event. */
  traceparent: string | null;
  /** Number of this attempt over all series, from 1. */
  attempt_count: number;
  /** When this attempt started, by the database's clock. */
  started_at: Date;
  /** When it became due, by the same clock, in microseconds since 1970. */
  due_us: number;
}

/** What one subscription may start: at most `attemptIds.length` deliveries, one for each of these new attempts. */
export interface Claim {
  subscription: OwnedSubscription;
  attemptIds: string[];
  /**
   * Only what became due from then on, in microseconds since 1970; null: from the beginning. The index keeps what was started until a
   * vacuum: of a long backlog every claim from the beginning would pass all that is done.
   */
  from_us: number | null;
}

const START_STEP = DELIVERY_STEPS.sql('pending', 'sending');

// I1 `fence`. `turn` numbers the deliveries of a subscription: each takes the attempt of its number.
const START = `
  with input as (
    select i.subscription_id, i.partition, i.epoch, i.most, i.first,
      coalesce(timestamptz 'epoch' + i.from_us * interval '1 microsecond', '-infinity') as due_from
    from unnest($1::uuid[], $2::smallint[], $3::bigint[], $4::integer[], $5::integer[], $7::bigint[])
      i(subscription_id, partition, epoch, most, first, from_us)
  ), fence as materialized (
    select p.id, p.epoch from partition p
    where (p.id, p.epoch) in (select i.partition, i.epoch from input i) order by p.id for key share
  ), due as materialized (
    select d.id, d.next_attempt_at, i.epoch, i.first, (row_number() over (partition by i.subscription_id))::integer as turn
    from input i join fence f on f.id = i.partition and f.epoch = i.epoch
    join subscription a on a.id = i.subscription_id and ${triesDeliveries('a')}
    cross join lateral (
      select d.id, d.next_attempt_at from delivery d
      where d.subscription_id = i.subscription_id and d.status ${START_STEP.from}
        and d.next_attempt_at >= i.due_from and d.next_attempt_at <= now()
      order by d.next_attempt_at, d.event_id limit i.most for update skip locked) d
  ), started as (
    update delivery d set status = ${START_STEP.to}, epoch = x.epoch, next_attempt_at = null,
      attempt_count = d.attempt_count + 1, series_attempts = d.series_attempts + 1
    from due x where d.id = x.id
    returning d.id, d.subscription_id, d.partition, d.epoch, d.event_id, d.attempt_count, ($6::uuid[])[x.first + x.turn] as attempt_id,
      x.next_attempt_at as due_at
  ), attempt as (
    insert into delivery_attempt (id, delivery_id, sequence, outcome, started_at)
    select s.attempt_id, s.id, s.attempt_count, ${DELIVERY_ATTEMPT_STEPS.firstSql}, now() from started s
  )
  select s.id, s.epoch, s.attempt_id, s.subscription_id, o.id as owner_id, b.workspace_id, b.connection_id,
    c.reference as connection_reference, o.callback_url, o.callback_url_sealed, array_prepend(o.secret_sealed, ${formerSecrets('o.id')}) as secrets_sealed, s.event_id, e.type as event_type, e.provider_event_id,
    e.received_at, e.data::text as event_data, e.data_sealed as event_data_sealed, e.traceparent,
    s.attempt_count, now() as started_at, (extract(epoch from s.due_at) * 1000000)::bigint as due_us
  from started s join subscription b on b.id = s.subscription_id join subscription o on o.id = coalesce(b.parent_id, b.id)
  join event e on e.id = s.event_id left join connection c on c.id = b.connection_id
  order by s.event_id`;

/**
 * pending → sending for deliveries that are due, oldest due first, each with one of the attempts given. Returns fewer
 * than were claimed when no more is due, from where the claim begins, or the epoch is stale. Safe to commit without waiting for the
 * disk: a start that is lost leaves the delivery pending, to be made again. Index: delivery_due.
 */
export async function startDeliveries(db: Sql, claims: Claim[]): Promise<StartedDelivery[]> {
  return db.query<StartedDelivery>('startDeliveries', START, [
    uuids(claims.map(({ subscription }) => subscription.id)),
    smallints(claims.map(({ subscription }) => subscription.partition)),
    bigints(claims.map(({ subscription }) => subscription.epoch)),
    integers(claims.map(({ attemptIds }) => attemptIds.length)),
    integers(claims.map((_, i) => claims.slice(0, i).reduce((sum, { attemptIds }) => sum + attemptIds.length, 0))),
    uuids(claims.flatMap(({ attemptIds }) => attemptIds)),
    bigints(claims.map(({ from_us }) => from_us)),
  ]);
}

const UNDO_STEP = DELIVERY_STEPS.sql('sending', 'pending');

const SENDING = DELIVERY_ATTEMPT_STEPS.firstSql;

// I3 `held`. An attempt that is still open under the lock of its delivery is that delivery's last one.
const UNDO = `
  with held as materialized (
    select d.id, d.status, d.subscription_id, d.partition, a.id as attempt_id
    from delivery_attempt a join delivery d on d.id = a.delivery_id where a.id = any($1) order by d.id for update of d
  ), undone as (
    delete from delivery_attempt a using held h
    where a.id = h.attempt_id and a.outcome = ${SENDING} and h.status ${UNDO_STEP.from} returning h.id, h.subscription_id, h.partition
  ), pending as (
    update delivery d set status = ${UNDO_STEP.to}, epoch = null, next_attempt_at = now() + $2 * interval '1 millisecond',
      attempt_count = d.attempt_count - 1, series_attempts = d.series_attempts - 1
    from undone u where d.id = u.id
  )
  ${makeJobsDue({
    queue: 'delivery',
    from: '(select distinct subscription_id as id, partition from undone) s',
    partition: 's.partition',
    id: 's.id',
    due: `now() + $2 * interval '1 millisecond'`,
    kept: true,
  })}`;

/**
 * Takes back starts of which nothing was sent (their answer was lost on the way or came late, or their secret cannot be opened here): what
 * was written of these attempts is deleted, and its delivery is pending again, due after `wait_ms`. A job that is parked becomes due as
 * well, because this statement may itself be late. Never use these attempts again.
 */
export async function undoStarts(db: Sql, attemptIds: string[], wait_ms = 0): Promise<void> {
  await db.query('undoStarts', UNDO, [attemptIds, wait_ms]);
}

/** Those of these attempts that may be sent now: neither canceled nor recovered since their start, of subscriptions that try deliveries. */
export async function heldStarts(db: Sql, attemptIds: string[]): Promise<string[]> {
  const rows = await db.query<{ id: string }>(
    'heldStarts',
    `select a.id from delivery_attempt a join delivery d on d.id = a.delivery_id join subscription s on s.id = d.subscription_id
     where a.id = any($1) and a.outcome = ${SENDING} and d.status ${UNDO_STEP.from} and ${triesDeliveries('s')}`,
    [attemptIds],
  );
  return rows.map(({ id }) => id);
}

/** How an attempt ended. `error` is its class, null when it was delivered. */
export interface FinishedAttempt extends HeldDelivery {
  outcome: Extract<DeliveryAttemptOutcome, 'delivered' | 'failed'>;
  statusCode: number | null;
  error: string | null;
}

/** What became of the delivery. `locked`: another transaction holds it, so nothing was written; finish it again. */
export interface FinishedDelivery {
  id: string;
  status: Exclude<DeliveryStatus, 'sending'> | 'locked';
}

const ENDED = {
  delivered: DELIVERY_STEPS.sql('sending', 'delivered').to,
  failed: DELIVERY_STEPS.sql('sending', 'failed').to,
  pending: DELIVERY_STEPS.sql('sending', 'pending').to,
};
const CLOSE_CANCELED = DELIVERY_ATTEMPT_STEPS.sql('sending', 'canceled');

// A delivery that becomes `failed` is announced by the trigger `delivery_exhaustion_told`, in the same transaction (EVT-20).
// I2 and I3 `held`. The attempt is read as it was before that lock: its number on the locked row says that it is still the last one.
const FINISH = `
  with input as (
    select * from unnest($1::uuid[], $2::bigint[], $3::uuid[], $4::text[], $5::integer[], $6::text[])
      i(id, epoch, attempt_id, outcome, status_code, error)
  ), held as materialized (
    select d.id, d.status, d.epoch, d.attempt_count, d.series_attempts
    from delivery d where d.id = any($1) for update skip locked
  ), outcome as materialized (
    select i.*, case when h.status = 'canceled' then 'canceled' when i.outcome = 'delivered' then ${ENDED.delivered}
        when h.series_attempts > cardinality($7::integer[]) then ${ENDED.failed} else ${ENDED.pending} end as becomes,
      now() + ($7::integer[])[h.series_attempts] * interval '1 second' as due
    from input i join held h on h.id = i.id join delivery_attempt a on a.id = i.attempt_id and a.id = any($3)
    where h.status = 'canceled'
      or (h.status = 'sending' and h.epoch = i.epoch and h.attempt_count = a.sequence and a.outcome = 'sending')
  ), finished as (
    update delivery d set status = o.becomes, epoch = null,
      next_attempt_at = case when o.becomes = 'pending' then o.due end,
      delivered_at = case when o.becomes = 'delivered' then now() end,
      last_error = case when o.error = 'status' then 'status_' || o.status_code else o.error end
    from outcome o where d.id = o.id and o.becomes <> 'canceled'
  ), closed as (
    update delivery_attempt a set outcome = case when o.becomes = 'canceled' then ${CLOSE_CANCELED.to} else o.outcome end,
      status_code = o.status_code, error = o.error, completed_at = now()
    from outcome o where a.id = o.attempt_id and a.outcome ${CLOSE_CANCELED.from}
  )
  select id, becomes as status from outcome
  union all
  select d.id, 'locked' from delivery d where d.id = any($1) and d.id not in (select id from held)`;

/**
 * sending → delivered, failed, or pending until the next attempt is due; the attempt is closed. `waits_s` are the seconds between
 * the attempts of a series: one more attempt than waits is made. A delivery that was canceled meanwhile stays so, its
 * attempt is closed as canceled with what was seen. Deliveries that are no longer held are left out (I2), as are those of a
 * statement whose answer was lost and which is asked again.
 */
export async function finishDeliveries(
  db: Sql,
  attempts: FinishedAttempt[],
  waits_s: readonly number[],
): Promise<FinishedDelivery[]> {
  for (const { outcome } of attempts) DELIVERY_ATTEMPT_STEPS.check('sending', outcome);
  return db.query<FinishedDelivery>('finishDeliveries', FINISH, [
    uuids(attempts.map((a) => a.id)),
    bigints(attempts.map((a) => a.epoch)),
    uuids(attempts.map((a) => a.attemptId)),
    texts(attempts.map((a) => a.outcome)),
    integers(attempts.map((a) => a.statusCode)),
    texts(attempts.map((a) => a.error)),
    integers(waits_s),
  ]);
}
