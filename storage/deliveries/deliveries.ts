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
 *    one delivery that another transaction holds must not delay those of others;
 * I4 the attempt that is under way stands in the delivery's own row, whose lock therefore decides who ends it. It gets a row of its own with its
 *    end. A node of the version before inserts that row with the start: a row that is `sending` may be there instead.
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
      attempt_count = d.attempt_count + 1, series_attempts = d.series_attempts + 1,
      attempt_id = ($6::uuid[])[x.first + x.turn], attempt_started_at = now()
    from due x where d.id = x.id
    returning d.id, d.subscription_id, d.partition, d.epoch, d.event_id, d.attempt_count, d.attempt_id, x.next_attempt_at as due_at
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

/** A start by its attempt, and whose it was. */
export type MadeStart = Pick<StartedDelivery, 'subscription_id' | 'epoch' | 'attempt_id'>;

// I3 `held`. A start of another epoch is nobody's to take back. Index: delivery_by_status, taken for its order.
const UNDO = `
  with input as (
    select * from unnest($1::uuid[], $2::uuid[], $3::bigint[]) i(attempt_id, subscription_id, epoch)
  ), chosen as materialized (
    select d.id from (select distinct subscription_id from input) i cross join lateral (
      select d.id, d.attempt_id from delivery d
      where d.subscription_id = i.subscription_id and d.status ${UNDO_STEP.from} order by d.event_id) d
    where d.attempt_id = any($1)
  ), held as materialized (
    select d.id, d.status, d.subscription_id, d.partition, d.epoch, d.attempt_id from delivery d
    where d.id = any(array(select id from chosen)) order by d.id for update
  ), open as materialized (
    select h.id, h.subscription_id, h.partition from held h join input i
      on i.attempt_id = h.attempt_id and i.subscription_id = h.subscription_id and i.epoch = h.epoch
    where h.status ${UNDO_STEP.from}
  ), undone as (
    update delivery d set status = ${UNDO_STEP.to}, epoch = null, next_attempt_at = now() + $4 * interval '1 millisecond',
      attempt_count = d.attempt_count - 1, series_attempts = d.series_attempts - 1, attempt_id = null, attempt_started_at = null
    where d.id = any(array(select id from open))
  )
  ${makeJobsDue({
    queue: 'delivery',
    from: '(select distinct subscription_id as id, partition from open) s',
    partition: 's.partition',
    id: 's.id',
    due: `now() + $4 * interval '1 millisecond'`,
    kept: true,
  })}`;

/**
 * Takes back starts of which nothing was sent (their answer was lost on the way or came late, or their secret cannot be opened here): the
 * delivery is pending again, due after `wait_ms`, and nothing is left of the attempt. A job that is parked becomes due as
 * well, because this statement may itself be late. Never use these attempts again.
 */
export async function undoStarts(db: Sql, starts: MadeStart[], wait_ms = 0): Promise<void> {
  await db.query('undoStarts', UNDO, [
    uuids(starts.map(({ attempt_id }) => attempt_id)),
    uuids(starts.map(({ subscription_id }) => subscription_id)),
    bigints(starts.map(({ epoch }) => epoch)),
    wait_ms,
  ]);
}

/** The attempts of these starts that may be sent now: neither canceled nor recovered since, of subscriptions that try deliveries. */
export async function heldStarts(
  db: Sql,
  starts: Pick<StartedDelivery, 'id' | 'epoch' | 'attempt_id'>[],
): Promise<string[]> {
  const rows = await db.query<{ id: string }>(
    'heldStarts',
    `with found as materialized (
       select d.id, d.status, d.epoch, d.attempt_id, d.subscription_id from delivery d where d.id = any($1)
     )
     select d.attempt_id as id from unnest($1::uuid[], $2::bigint[], $3::uuid[]) i(id, epoch, attempt_id)
       join found d on d.id = i.id and d.epoch = i.epoch and d.attempt_id = i.attempt_id
       join subscription s on s.id = d.subscription_id
     where d.status ${UNDO_STEP.from} and ${triesDeliveries('s')}`,
    [
      uuids(starts.map(({ id }) => id)),
      bigints(starts.map(({ epoch }) => epoch)),
      uuids(starts.map(({ attempt_id }) => attempt_id)),
    ],
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
const CANCELED = DELIVERY_ATTEMPT_STEPS.sql('sending', 'canceled').to;

// A delivery that becomes `failed` is announced by the trigger `delivery_exhaustion_told`, in the same transaction (EVT-20).
// I2, I3 and I4 `held`. One that a node of the version before has canceled still has its attempt in its row.
const FINISH = `
  with input as (
    select * from unnest($1::uuid[], $2::bigint[], $3::uuid[], $4::text[], $5::integer[], $6::text[])
      i(id, epoch, attempt_id, outcome, status_code, error)
  ), held as materialized (
    select d.id, d.status, d.epoch, d.attempt_count, d.series_attempts, d.attempt_id, d.attempt_started_at
    from delivery d where d.id = any($1) for update skip locked
  ), outcome as materialized (
    select i.*, h.attempt_count, h.attempt_started_at, h.attempt_id = i.attempt_id as open,
      case when h.status = 'canceled' then 'canceled' when i.outcome = 'delivered' then ${ENDED.delivered}
        when h.series_attempts > cardinality($7::integer[]) then ${ENDED.failed} else ${ENDED.pending} end as becomes,
      now() + ($7::integer[])[h.series_attempts] * interval '1 second' as due
    from input i join held h on h.id = i.id
    where h.status = 'canceled' or (h.status = 'sending' and h.epoch = i.epoch and h.attempt_id = i.attempt_id)
  ), finished as (
    update delivery d set status = o.becomes, epoch = null, attempt_id = null, attempt_started_at = null,
      next_attempt_at = case when o.becomes = 'pending' then o.due end,
      delivered_at = case when o.becomes = 'delivered' then now() end,
      last_error = case when o.error = 'status' then 'status_' || o.status_code else o.error end
    from outcome o where d.id = o.id and o.becomes <> 'canceled'
  ), stored as (
    insert into delivery_attempt (id, delivery_id, sequence, outcome, status_code, error, started_at, completed_at)
    select o.attempt_id, o.id, o.attempt_count, case when o.becomes = 'canceled' then ${CANCELED} else o.outcome end,
      o.status_code, o.error, o.attempt_started_at, now()
    from outcome o where o.open on conflict do nothing
  )
  select id, becomes as status from outcome
  union all
  select d.id, 'locked' from delivery d where d.id = any($1) and d.id not in (select id from held)`;

/**
 * sending → delivered, failed, or pending until the next attempt is due; the attempt gets its row. `waits_s` are the seconds between
 * the attempts of a series: one more attempt than waits is made. A delivery that was canceled meanwhile stays so, its
 * attempt was closed as canceled with it. Deliveries that are no longer held are left out (I2), as are those of a
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
