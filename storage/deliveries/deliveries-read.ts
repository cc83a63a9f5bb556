import type { DeliveryStatus } from '../model/records.js';
import type { Sql } from '../postgres/database.js';
import { wakeSubscriptions } from './delivery-queue.js';

/** Deliveries as callers see them, and their replay. Attempts are made and finished elsewhere. */
export interface DeliveryRow {
  id: string;
  workspace_id: string;
  subscription_id: string;
  connection_id: string;
  event_id: string;
  status: DeliveryStatus;
  attempt_count: number;
  replay_count: number;
  next_attempt_at: Date | null;
  delivered_at: Date | null;
  last_error: string | null;
}

export interface DeliveryAttemptRow {
  id: string;
  sequence: number;
  outcome: 'sending' | 'delivered' | 'failed' | 'canceled' | 'abandoned';
  status_code: number | null;
  error: string | null;
  started_at: Date;
  completed_at: Date | null;
}

const COLUMNS = `d.id, d.workspace_id, d.subscription_id, s.connection_id, d.event_id, d.status, d.attempt_count,
  d.replay_count, d.next_attempt_at, d.delivered_at, d.last_error`;

/**
 * Newest event first. Without a status, an offset is arithmetic on gapless ranks (delivery_by_rank), so every page costs the
 * same. Within a status no rank is gapless: what the offset skips is read from the index alone (delivery_by_status).
 */
export function listDeliveries(
  sql: Sql,
  subscriptionId: string,
  status: DeliveryStatus | null,
  offset: number,
  limit: number,
): Promise<DeliveryRow[]> {
  if (status === null) {
    return sql.query<DeliveryRow>(
      'listDeliveries',
      `select ${COLUMNS} from delivery d join subscription s on s.id = d.subscription_id
       where d.subscription_id = $1 and d.rank = any(array(
         select rank from delivery where subscription_id = $1
           and rank <= (select delivery_count from subscription where id = $1) - $2
         order by rank desc limit $3))
       order by d.rank desc`,
      [subscriptionId, offset, limit],
    );
  }
  return sql.query<DeliveryRow>(
    'listDeliveriesByStatus',
    `select ${COLUMNS} from delivery d join subscription s on s.id = d.subscription_id
     where d.subscription_id = $1 and d.status = $4 and d.event_id = any(array(
       select event_id from delivery where subscription_id = $1 and status = $4
       order by event_id desc offset $2 limit $3))
     order by d.event_id desc`,
    [subscriptionId, offset, limit, status],
  );
}

/** These deliveries, whatever their workspace; the caller compares it. */
export function findDeliveries(sql: Sql, ids: string[]): Promise<DeliveryRow[]> {
  return sql.query<DeliveryRow>(
    'findDeliveries',
    `select ${COLUMNS} from delivery d join subscription s on s.id = d.subscription_id where d.id = any($1::uuid[])`,
    [ids],
  );
}

/** Oldest first, over all series. */
export function listDeliveryAttempts(sql: Sql, deliveryId: string): Promise<DeliveryAttemptRow[]> {
  return sql.query<DeliveryAttemptRow>(
    'listDeliveryAttempts',
    `select id, sequence, outcome, status_code, error, started_at, completed_at from delivery_attempt
     where delivery_id = $1 order by sequence`,
    [deliveryId],
  );
}

// A replayed delivery keeps its id and the numbers of its attempts; five new ones are made (EVT-5).
const REPLAYED = `status = 'pending', replay_count = replay_count + 1, series_attempts = 0, next_attempt_at = now(), epoch = null`;

export type ReplayRefusal = 'delivery_not_failed' | 'subscription_inactive';

/** failed → pending and due, or why not (EVT-5). Run it in a transaction. */
export async function replayDelivery(tx: Sql, deliveryId: string): Promise<ReplayRefusal | 'gone' | 'replayed'> {
  // FOR SHARE: a deactivation comes before and refuses this, or after and cancels it.
  const [row] = await tx.query<{ status: DeliveryStatus; active: boolean; partition: number; subscription_id: string }>(
    'lockDelivery',
    `select d.status, s.active, d.partition, d.subscription_id from delivery d join subscription s on s.id = d.subscription_id
     where d.id = $1 for update of d for share of s`,
    [deliveryId],
  );
  if (!row) return 'gone';
  if (row.status !== 'failed') return 'delivery_not_failed';
  if (!row.active) return 'subscription_inactive';
  await tx.query('replayDelivery', `update delivery set ${REPLAYED} where id = $1`, [deliveryId]);
  await wakeSubscriptions(tx, [{ id: row.subscription_id, partition: row.partition }], new Date());
  return 'replayed';
}

/**
 * Replays up to `limit` failed deliveries of the subscription whose event is newer than `since`, in order of events after
 * `afterEvent` (EVT-13). Gives how many, and the event to go on after; null when the subscription is inactive.
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
       where d.subscription_id = $1 and d.status = 'failed' and d.event_id > $3 and e.received_at > $2
       order by d.event_id limit $4 for update of d
     ) chosen where delivery.id = chosen.id
     returning delivery.event_id`,
    [subscriptionId, since, afterEvent, limit],
  );
  if (rows.length > 0)
    await wakeSubscriptions(tx, [{ id: subscriptionId, partition: subscription.partition }], new Date());
  const events = rows.map((row) => row.event_id).sort();
  return { replayed: rows.length, lastEvent: events.at(-1) ?? afterEvent };
}
