import { DELIVERY_ATTEMPT_STEPS, DELIVERY_STEPS } from '../model/transitions.js';
import type { Sql } from '../postgres/database.js';
import { wakeSubscriptions } from './delivery-queue.js';

/** sending → pending, as a step. */
export const RECOVER = DELIVERY_STEPS.sql('sending', 'pending');
const ABANDON = DELIVERY_ATTEMPT_STEPS.sql('sending', 'abandoned');

/**
 * Common tables that put the deliveries of the locked common table `lost` back to pending and due, and close those of their
 * open attempts `a` for which `ofLost` holds: such an attempt may have been sent, so it keeps its number, but ends no series (EVT-6).
 */
export const recoverLost = (ofLost: string): string => `recovered as (
    update delivery d set status = ${RECOVER.to}, epoch = null, next_attempt_at = now(),
      series_attempts = greatest(d.series_attempts - 1, 0)
    where d.id = any(array(select id from lost))
  ), abandoned as (
    update delivery_attempt a set outcome = ${ABANDON.to}, completed_at = now()
    where ${ofLost} and a.outcome ${ABANDON.from}
  )`;

/**
 * Part of a partition's recovery: what its former owner left sending goes back to pending and due, and the open
 * attempt is closed as abandoned (EVT-6). The attempt may have reached the receiver, so it keeps its number. It does
 * not count towards the five of the series: they measure the receiver, and its answer to this one is not known. The jobs
 * of the subscriptions become due; the caller puts back those that were fetched. Returns how many deliveries there were.
 */
export async function recoverDeliveries(tx: Sql, partitions: number[]): Promise<number> {
  const rows = await tx.query<{ id: string; partition: number }>(
    'recoverDeliveries',
    `with lost as materialized (
       select d.id, d.subscription_id, d.partition from delivery d where d.partition = any($1) and d.status ${RECOVER.from} order by d.id for update
     ), ${recoverLost('a.delivery_id = any(array(select id from lost))')}
     select subscription_id as id, partition from lost`,
    [partitions],
  );
  await wakeSubscriptions(tx, rows);
  return rows.length;
}
