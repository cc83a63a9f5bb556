import { ofKeptConnection } from '../model/kept-connection.js';
import type { DeliveryStatus, EventType, Health } from '../model/records.js';
import type { Sql } from '../postgres/database.js';

export interface SubscriptionRow {
  id: string;
  workspace_id: string;
  connection_id: string;
  partition: number;
  event_types: EventType[];
  callback_url: string;
  active: boolean;
  created_at: Date;
}

const COLUMNS = 'id, workspace_id, connection_id, partition, event_types, callback_url, active, created_at';

/** Oldest first. Index: subscription_by_connection. */
export function listSubscriptions(sql: Sql, connectionId: string): Promise<SubscriptionRow[]> {
  return sql.query<SubscriptionRow>(
    'listSubscriptions',
    `select ${COLUMNS} from subscription where connection_id = $1 order by created_at, id`,
    [connectionId],
  );
}

/** These subscriptions, whatever their workspace; the caller compares it. */
export function findSubscriptions(sql: Sql, ids: string[]): Promise<SubscriptionRow[]> {
  return sql.query<SubscriptionRow>(
    'findSubscriptions',
    `select ${COLUMNS} from subscription s where id = any($1::uuid[]) and ${ofKeptConnection('s.connection_id')}`,
    [ids],
  );
}

export interface NewSubscription {
  id: string;
  connectionId: string;
  eventTypes: EventType[];
  callbackUrl: string;
  secretSealed: Buffer;
}

/**
 * Stores a subscription, active when its connection is ready now (EVT-1): the connection is locked, so that a
 * disconnect comes before or after. Undefined when the connection is gone.
 */
export async function insertSubscription(
  sql: Sql,
  subscription: NewSubscription,
): Promise<SubscriptionRow | undefined> {
  const [row] = await sql.query<SubscriptionRow>(
    'insertSubscription',
    `insert into subscription (id, workspace_id, connection_id, partition, event_types, callback_url, active, secret_sealed)
     select $1, c.workspace_id, c.id, c.partition, $3, $4, c.health = 'ready', $5
     from connection c where c.id = $2 and c.deleted_at is null for share
     returning ${COLUMNS}`,
    [
      subscription.id,
      subscription.connectionId,
      subscription.eventTypes,
      subscription.callbackUrl,
      subscription.secretSealed,
    ],
  );
  return row;
}

/**
 * Locks the connection, then the subscription: the order in every transaction. Undefined when either is gone. `stopping` while a
 * disconnect, or a deactivation, still cancels what it left: open deliveries of inactive subscriptions.
 */
export async function lockSubscription(
  tx: Sql,
  subscription: { id: string; connection_id: string },
): Promise<{ active: boolean; health: Health; stopping: boolean } | undefined> {
  const [connection] = await tx.query<{ health: Health; stopping: boolean }>(
    'lockConnectionOfSubscription',
    `select health, cancel_through is not null as stopping from connection
     where id = $1 and deleted_at is null for no key update`,
    [subscription.connection_id],
  );
  const [row] = await tx.query<{ active: boolean }>(
    'lockSubscription',
    'select active from subscription where id = $1 for update',
    [subscription.id],
  );
  return connection && row && { active: row.active, ...connection };
}

/** inactive → active. */
export async function activateSubscription(tx: Sql, id: string): Promise<void> {
  await tx.query('activateSubscription', 'update subscription set active = true where id = $1', [id]);
}

/** The new secret signs first from now on, the one before it for `overlap_hours` more (EVT-12). */
export async function rotateSecret(
  sql: Sql,
  id: string,
  secretSealed: Buffer,
  overlap_hours: number,
): Promise<Date | undefined> {
  const [row] = await sql.query<{ previous_valid_until: Date }>(
    'rotateSecret',
    `update subscription set previous_secret_sealed = secret_sealed, secret_sealed = $2,
       previous_valid_until = now() + $3 * interval '1 hour'
     where id = $1 returning previous_valid_until`,
    [id, secretSealed, overlap_hours],
  );
  return row?.previous_valid_until;
}

/** How many deliveries the subscription has in each status. Index only: delivery_by_status. */
export async function countDeliveries(sql: Sql, subscriptionId: string): Promise<Record<DeliveryStatus, number>> {
  const rows = await sql.query<{ status: DeliveryStatus; count: number }>(
    'countDeliveries',
    'select status, count(*) as count from delivery where subscription_id = $1 group by status',
    [subscriptionId],
  );
  const counts = { pending: 0, sending: 0, delivered: 0, failed: 0, canceled: 0 };
  for (const row of rows) counts[row.status] = row.count;
  return counts;
}
