import type { DeliveryStatus } from '../model/records.js';
import { DELIVERY_STEPS } from '../model/transitions.js';
import type { Sql } from '../postgres/database.js';
import { wakeSubscriptions } from './delivery-queue.js';

const REPLAY = DELIVERY_STEPS.sql('failed', 'pending');

// A replayed delivery keeps its id and the numbers of its attempts; a new series of attempts is made (EVT-5).
const REPLAYED = `status = ${REPLAY.to}, replay_count = replay_count + 1, series_attempts = 0, next_attempt_at = now(), epoch = null`;

export type ReplayRefusal = 'delivery_not_failed' | 'subscription_inactive';

/** failed → pending and due, or the reason of the refusal (EVT-5). Run it in a transaction. */
export async function replayDelivery(tx: Sql, deliveryId: string): Promise<ReplayRefusal | 'gone' | 'replayed'> {
  // FOR SHARE: a deactivation comes first and this is refused, or comes after and cancels the delivery.
  const [row] = await tx.query<{ status: DeliveryStatus; active: boolean; partition: number; subscription_id: string }>(
    'lockDelivery',
    `select d.status, s.active, d.partition, d.subscription_id from delivery d join subscription s on s.id = d.subscription_id
     where d.id = $1 for update of d for share of s`,
    [deliveryId],
  );
  if (!row) return 'gone';
  if (row.status !== 'failed') return 'delivery_not_failed';
  if (!row.active) return 'subscription_inactive';
  await tx.query('replayDelivery', `update delivery set ${REPLAYED} where id = $1 and status ${REPLAY.from}`, [
    deliveryId,
  ]);
  await wakeSubscriptions(tx, [{ id: row.subscription_id, partition: row.partition }]);
  return 'replayed';
}

/**
 * Replays up to `limit` failed deliveries of the subscription whose event is newer than `since`, as its time is shown, in order of events after
 * `afterEvent` (EVT-13). Returns how many, and the event to go on after; null when the subscription is inactive.
 * Run it in a transaction. Index: delivery_by_status.
 */
export async function replayFailedDeliveries(
  tx: Sql,
  subscriptionId: string,
  since: Date,
  afterEvent: string,
  limit: number,
): Promise<{ replayed: number; lastEvent: string } | null> {
  const [subscription] = await tx.query<{ active: boolean; partition: number }>(
    'shareSubscription',
    'select active, partition from subscription where id = $1 for share',
    [subscriptionId],
  );
  if (!subscription?.active) return null;
  const rows = await tx.query<{ event_id: string }>(
    'replayFailedDeliveries',
    `update delivery set ${REPLAYED} from (
       select d.id from delivery d join event e on e.id = d.event_id
       where d.subscription_id = $1 and d.status ${REPLAY.from} and d.event_id > $3 and date_trunc('milliseconds', e.received_at) > $2
       order by d.event_id limit $4 for update of d
     ) chosen where delivery.id = chosen.id
     returning delivery.event_id`,
    [subscriptionId, since, afterEvent, limit],
  );
  if (rows.length > 0) await wakeSubscriptions(tx, [{ id: subscriptionId, partition: subscription.partition }]);
  const events = rows.map((row) => row.event_id).sort();
  return { replayed: rows.length, lastEvent: events.at(-1) ?? afterEvent };
}
