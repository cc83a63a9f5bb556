import type { DeliveryStatus } from '../model/records.js';
import { DELIVERY_STEPS } from '../model/transitions.js';
import type { Sql } from '../postgres/database.js';
import { wakeSubscriptions } from './delivery-queue.js';
import type { SubscriptionRow } from './subscriptions.js';

const REPLAY = DELIVERY_STEPS.sql('failed', 'pending');

// A replayed delivery keeps its id and the numbers of its attempts; a new series of attempts is made (EVT-5).
const REPLAYED = `status = ${REPLAY.to}, replay_count = replay_count + 1, series_attempts = 0, next_attempt_at = now(), epoch = null`;

export type ReplayRefusal = 'delivery_not_failed' | 'subscription_inactive';

/** failed → pending and due, or the reason of the refusal (EVT-5). Run it in a transaction. */
export async function replayDelivery(tx: Sql, deliveryId: string): Promise<ReplayRefusal | 'gone' | 'replayed'> {
  // FOR SHARE: a deactivation comes first and this is refused, or comes after and cancels the delivery. It locks the subscription first, too.
  const [row] = await tx.query<{ status: DeliveryStatus; active: boolean; partition: number; subscription_id: string }>(
    'lockDelivery',
    `with subscription as materialized (
       select id, active from subscription where id = (select subscription_id from delivery where id = $1) for share
     )
     select d.status, s.active, d.partition, d.subscription_id from delivery d join subscription s on s.id = d.subscription_id
     where d.id = $1 for update of d`,
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

/** What one page of a bulk replay made pending. */
export interface ReplayedPage {
  replayed: number;
  /** Whose deliveries became due. */
  connections: string[];
  /** The event to go on after; null when this was the last page. */
  lastEvent: string | null;
}

/**
 * Replays up to `limit` failed deliveries of the subscription whose event is newer than `since`, as its time is shown, in order of events after
 * `afterEvent` (EVT-13). Of a subscription of the
 * workspace, those of members that are active. Null when the subscription is inactive.
 * Run it in a transaction. Indexes: delivery_by_status, delivery_of_parent.
 */
export async function replayFailedDeliveries(
  tx: Sql,
  { id: subscriptionId, connection_id }: Pick<SubscriptionRow, 'id' | 'connection_id'>,
  since: Date,
  afterEvent: string,
  limit: number,
): Promise<ReplayedPage | null> {
  const [subscription] = await tx.query<{ active: boolean }>(
    'shareSubscription',
    'select active from subscription where id = $1 and deleted_at is null for share',
    [subscriptionId],
  );
  if (!subscription?.active) return null;
  const whose = connection_id === null ? 'parent_id' : 'subscription_id';
  const page = await tx.query<{ id: string; event_id: string; subscription_id: string }>(
    connection_id === null ? 'failedDeliveriesOfMembers' : 'failedDeliveries',
    `select d.id, d.event_id, d.subscription_id from delivery d join event e on e.id = d.event_id
     where d.${whose} = $1 and d.status ${REPLAY.from} and d.event_id > $3 and date_trunc('milliseconds', e.received_at) > $2
     order by d.event_id limit $4`,
    [subscriptionId, since, afterEvent, limit],
  );
  // Before deliveries, as a disconnect locks them: it comes first and these stay failed, or comes after and cancels them.
  const active = await tx.query<{ id: string; partition: number; connection_id: string }>(
    'shareMembers',
    'select id, partition, connection_id from subscription where id = any($1) and active order by id for share',
    [[...new Set(page.map((row) => row.subscription_id))]],
  );
  const rows = await tx.query<{ subscription_id: string }>(
    'replayFailedDeliveries',
    `update delivery set ${REPLAYED} from (
       select id from delivery where id = any($1) order by id for update
     ) chosen where delivery.id = chosen.id and status ${REPLAY.from} and subscription_id = any($2) returning subscription_id`,
    [page.map(({ id }) => id), active.map(({ id }) => id)],
  );
  const replayed = new Set(rows.map((row) => row.subscription_id));
  const woken = active.filter(({ id }) => replayed.has(id));
  await wakeSubscriptions(
    tx,
    woken.map(({ id, partition }) => ({ id, partition })),
  );
  return {
    replayed: rows.length,
    connections: woken.map((one) => one.connection_id),
    lastEvent: page.length === limit ? (page.at(-1)?.event_id ?? null) : null,
  };
}
