import { DELIVERY_ATTEMPT_STEPS, DELIVERY_STEPS } from '../model/transitions.js';
import type { Sql } from '../postgres/database.js';
import { closeAttempts, WITH_ATTEMPT } from './recovery.js';

const CANCEL = DELIVERY_STEPS.sql(['pending', 'sending'], 'canceled');
const CANCELED = DELIVERY_ATTEMPT_STEPS.sql('sending', 'canceled').to;

// Index: delivery_by_status, taken for its order: without one the planner reads the whole table for each subscription once most rows
// are those of a few. The chosen rows are found by their ids alone, in arrays: with a status beside them the planner reads all deliveries
// that have it when it expects few.
/**
 * pending, sending → canceled for up to `limit` deliveries of the connections' inactive subscriptions, whose jobs are gone already.
 * Open attempts are closed, because their sender may be lost before it reports how they ended. Deliveries are locked in the order of
 * their ids, as by the statements of `deliveries.ts`. Returns how many: fewer than `limit` when none is left.
 */
export async function cancelOpenDeliveries(tx: Sql, connectionIds: string[], limit: number): Promise<number> {
  const [row] = await tx.query<{ canceled: number }>(
    'cancelOpenDeliveries',
    `with chosen as materialized (
       select d.id from subscription s cross join unnest(array['pending', 'sending']) o(status) cross join lateral (
         select d.id from delivery d where d.subscription_id = s.id and d.status = o.status order by d.event_id limit $2) d
       where s.connection_id = any($1::uuid[]) and not s.active limit $2
     ), held as materialized (
       select ${WITH_ATTEMPT}, d.status from delivery d where d.id = any(array(select id from chosen)) order by d.id for update
     ), to_cancel as materialized (
       select h.* from held h where h.status ${CANCEL.from}
     ), canceled as (
       update delivery d set status = ${CANCEL.to}, next_attempt_at = null, attempt_id = null, attempt_started_at = null
       where d.id = any(array(select id from to_cancel))
     ), ${closeAttempts('to_cancel', CANCELED)}
     select count(*) as canceled from chosen`,
    [connectionIds, limit],
  );
  return row?.canceled ?? 0;
}
