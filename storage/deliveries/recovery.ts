import { DELIVERY_ATTEMPT_STEPS, DELIVERY_STEPS } from '../model/transitions.js';
import type { Sql } from '../postgres/database.js';
import { wakeSubscriptions } from './delivery-queue.js';

/** sending → pending, as a step. */
export const RECOVER = DELIVERY_STEPS.sql('sending', 'pending');
const ABANDON = DELIVERY_ATTEMPT_STEPS.sql('sending', 'abandoned');

/** What a common table has of deliveries whose open attempts are to be closed, as `d`. */
export const WITH_ATTEMPT = 'd.id, d.attempt_id, d.attempt_started_at, d.attempt_count';

/**
 * Common tables that end the open attempts of the deliveries in the table `held`, which are locked: one in the row of its delivery gets a row of
 * its own. A node of the version before has inserted that row with the start.
 */
export const closeAttempts = (held: string, outcome: string): string => `closed as (
    insert into delivery_attempt (id, delivery_id, sequence, outcome, started_at, completed_at)
    select h.attempt_id, h.id, h.attempt_count, ${outcome}, h.attempt_started_at, now() from ${held} h where h.attempt_id is not null
    on conflict do nothing
  ), closed_rows as (
    update delivery_attempt a set outcome = ${outcome}, completed_at = now()
    where a.delivery_id = any(array(select id from ${held})) and a.outcome ${ABANDON.from}
  )`;

/**
 * Common tables that put the deliveries of the locked common table `lost` back to pending and due, and close their
 * open attempts: such an attempt may have been sent, so it keeps its number, but ends no series (EVT-6).
 */
export const RECOVER_LOST = `recovered as (
    update delivery d set status = ${RECOVER.to}, epoch = null, next_attempt_at = now(), attempt_id = null, attempt_started_at = null,
      series_attempts = greatest(d.series_attempts - 1, 0)
    where d.id = any(array(select id from lost))
  ), ${closeAttempts('lost', ABANDON.to)}`;

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
       select ${WITH_ATTEMPT}, d.subscription_id, d.partition from delivery d
       where d.partition = any($1) and d.status ${RECOVER.from} order by d.id for update
     ), ${RECOVER_LOST}
     select subscription_id as id, partition from lost`,
    [partitions],
  );
  await wakeSubscriptions(tx, rows);
  return rows.length;
}
