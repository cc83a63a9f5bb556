import { LIMITS } from '../../limits.js';
import { ofKeptConnection } from '../../model/kept-connection.js';
import { type Erasure, FIRST_ID, type PassOver, shareOf } from './erasure.js';

/** Deliveries that nothing is done with any more; a failed one may be replayed until it is erased. */
const ENDED = ['delivered', 'failed', 'canceled'];

/** Attempts that were begun before, of deliveries that have ended. The others are passed, and looked at again in the next round. Index: delivery_attempt_pkey. */
export const eraseAttempts: Erasure = async (tx, after, { id }, rows) => {
  const [slice] = await tx.query<{ erased: number; last: string | null }>(
    'eraseAttempts',
    `with page as materialized (
       select id, delivery_id from delivery_attempt where id > $1 and id < $2 order by id limit $3
     ), ended as materialized (
       select p.id from page p join delivery d on d.id = p.delivery_id where d.status = any($4)
     ), gone as (
       delete from delivery_attempt where id = any(array(select id from ended)) returning 1
     )
     select (select count(*)::integer from gone) as erased, (select id from page order by id desc limit 1) as last`,
    [after ?? FIRST_ID, id, rows, ENDED],
  );
  return slice ?? { erased: 0, last: null };
};

/**
 * Deliveries that have ended, with their attempts, of events that were recorded before; one that is locked is left to the next round. A slice
 * looks at several subscriptions, and at the same again while it is full. Index: delivery_by_status, which never reads those that wait.
 */
export const eraseDeliveries: Erasure = async (tx, after, { id }, rows) => {
  const from = after ?? FIRST_ID;
  const [slice] = await tx.query<{ erased: number; last: string | null }>(
    'eraseDeliveries',
    `with page as materialized (
       select id from subscription s where id > $1 and ${ofKeptConnection('s.connection_id')} order by id limit $2
     ), due as materialized (
       select d.id, p.id as subscription_id from page p cross join unnest($5::text[]) e(status) cross join lateral (
         select id from delivery where subscription_id = p.id and status = e.status and event_id < $3
         order by event_id limit $4 for update skip locked) d
       limit $4
     ), gone as (
       delete from delivery where id = any(array(select id from due)) returning subscription_id
     ), counted as (
       insert into erased_deliveries as c (subscription_id, deliveries)
       select subscription_id, count(*) from gone group by subscription_id order by subscription_id
       on conflict (subscription_id) do update set deliveries = c.deliveries + excluded.deliveries
     )
     select (select count(*)::integer from gone) as erased, (select id from page order by id desc limit 1) as last`,
    [from, shareOf(LIMITS.retention_subscriptions, rows), id, rows, ENDED],
  );
  if (!slice) return { erased: 0, last: null };
  return slice.erased === rows ? { ...slice, last: from } : slice;
};

/** The rest of a subscription. */
export const passDelivery: PassOver = async (tx, after) => {
  const [row] = await tx.query<{ id: string }>(
    'passDelivery',
    `select id from subscription s where id > $1 and ${ofKeptConnection('s.connection_id')} order by id limit 1`,
    [after ?? FIRST_ID],
  );
  return row?.id ?? null;
};
