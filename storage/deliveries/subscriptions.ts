import { ofKeptConnection } from '../model/kept-connection.js';
import { DELIVERY_STATUSES, type DeliveryStatus, type EventType, type Health } from '../model/records.js';
import type { Sql } from '../postgres/database.js';
import { findsRow } from '../postgres/finds-row.js';
import { isBehind, type ListPlace, placeOfRow } from '../postgres/list-place.js';
import { callbackUrlContext } from '../secrets/sealing.js';
import { hiddenMembers } from './hidden-members.js';

export interface SubscriptionRow {
  id: string;
  workspace_id: string;
  /** Null of a subscription of all connections of its workspace (EVT-23), as is the partition. */
  connection_id: string | null;
  partition: number | null;
  event_types: EventType[];
  /** Not sealed, or null; `callbackUrlOf` gives either. */
  callback_url: string | null;
  callback_url_sealed: Buffer | null;
  active: boolean;
  /** None of its deliveries is tried (EVT-21). */
  on_hold: boolean;
  /** Its address has proven itself (EVT-18). */
  verified: boolean;
  created_at: Date;
  /** Of all connections: a change has not come to all of them. */
  settling: boolean;
  /** Since when its destination has been paused, and the class of its last error; null while it is not. */
  paused_since: Date | null;
  paused_reason: string | null;
}

/** Of `subscription s`. */
const COLUMNS = `s.id, s.workspace_id, s.connection_id, s.partition, s.event_types, s.callback_url, s.callback_url_sealed, s.active, s.on_hold, s.verified, s.created_at,
  s.settled_at is not null as settling,
  (select p.since from callback_pause p where p.destination = s.destination) as paused_since,
  (select p.reason from callback_pause p where p.destination = s.destination) as paused_reason`;

/** This subscription (an alias) is not a member, and not deleted: what callers see. Told so that no index of a workspace is taken for it. */
export const isShown = (s: string): string => `num_nonnulls(${s}.parent_id, ${s}.deleted_at) = 0`;
/** The same, as those indexes tell it. */
const LISTED = 's.parent_id is null and s.deleted_at is null';

/** Deliveries of this subscription (an alias) may be tried: it and, where it is a member, its parent are active, and not on hold. */
export const triesDeliveries = (s: string): string =>
  `${s}.active and not ${s}.on_hold and (${s}.parent_id is null or ${findsRow(
    `from subscription parent where parent.id = ${s}.parent_id and parent.active and not parent.on_hold`,
  )})`;

/** Where its callbacks go. Throws KeyUnknown when the node lacks the key that it is sealed under. */
export function callbackUrlOf(
  { vault }: Sql,
  { id, callback_url, callback_url_sealed }: Pick<SubscriptionRow, 'id' | 'callback_url' | 'callback_url_sealed'>,
): string {
  return vault.openText({ plain: callback_url, sealed: callback_url_sealed }, callbackUrlContext(id)) ?? '';
}

/** Oldest first, `limit` of them behind `after`. Index: subscription_by_connection. */
export function listSubscriptions(
  sql: Sql,
  connectionId: string,
  after: ListPlace,
  limit: number,
): Promise<(SubscriptionRow & ListPlace)[]> {
  return sql.query<SubscriptionRow & ListPlace>(
    'listSubscriptions',
    `select ${COLUMNS}, ${placeOfRow('s')} from subscription s where s.connection_id = $1 and ${isShown('s')} and ${isBehind('s', '$2', '$3')}
     order by s.created_at, s.id limit $4`,
    [connectionId, after.created_us, after.id, limit],
  );
}

/** Null in a filter: any. */
export interface SubscriptionFilter {
  connectionId: string | null;
  active: boolean | null;
}

/**
 * Those of a workspace, oldest first, `limit` of them behind `after`. Indexes: subscription_listed, subscription_listed_by_activity,
 * subscription_by_connection, of which there are few.
 */
export function listWorkspaceSubscriptions(
  sql: Sql,
  workspaceId: string,
  { connectionId, active }: SubscriptionFilter,
  after: ListPlace,
  limit: number,
): Promise<(SubscriptionRow & ListPlace)[]> {
  const filters = [
    connectionId === null ? '$5::uuid is null' : 's.connection_id = $5',
    active === null ? '$6::boolean is null' : 's.active = $6',
  ];
  return sql.query<SubscriptionRow & ListPlace>(
    // One statement for each set of filters: a plan for any of them would use no index of its own.
    `listWorkspaceSubscriptions${connectionId === null ? '' : 'OfConnection'}${active === null ? '' : 'ByActivity'}`,
    `select ${COLUMNS}, ${placeOfRow('s')} from subscription s
     where s.workspace_id = $1 and ${connectionId === null ? LISTED : isShown('s')} and ${filters.join(' and ')} and ${isBehind('s', '$2', '$3')} and ${ofKeptConnection('s.connection_id')}
     order by s.created_at, s.id limit $4`,
    [workspaceId, after.created_us, after.id, limit, connectionId, active],
  );
}

/** These subscriptions, whatever their workspace; the caller compares it. */
export function findSubscriptions(sql: Sql, ids: string[]): Promise<SubscriptionRow[]> {
  return sql.query<SubscriptionRow>(
    'findSubscriptions',
    `select ${COLUMNS} from subscription s where s.id = any($1::uuid[]) and ${isShown('s')} and ${ofKeptConnection('s.connection_id')}`,
    [ids],
  );
}

export interface NewSubscription {
  id: string;
  connectionId: string;
  eventTypes: EventType[];
  callbackUrl: string;
  secretSealed: Buffer;
  /** The keyed hash of its workspace and of where its callbacks lead. */
  destination: Buffer | null;
  /** It stays inactive, whatever its connection's health, until `proveSubscription`. */
  unproven?: boolean;
}

/**
 * Stores a subscription, active when its connection is ready now (EVT-1): the connection is locked, so that a
 * disconnect comes before or after. Undefined when the connection is gone.
 */
export async function insertSubscription(
  sql: Sql,
  subscription: NewSubscription,
): Promise<SubscriptionRow | undefined> {
  const callback = sql.vault.store(subscription.callbackUrl, callbackUrlContext(subscription.id));
  const [row] = await sql.query<SubscriptionRow>(
    'insertSubscription',
    `insert into subscription as s (id, workspace_id, connection_id, partition, event_types, callback_url, callback_url_sealed, active,
       secret_sealed, destination)
     select $1, c.workspace_id, c.id, c.partition, $3, $4, $8, c.health = 'ready' and not $7, $5, $6
     from connection c where c.id = $2 and c.deleted_at is null for share
     returning ${COLUMNS}`,
    [
      subscription.id,
      subscription.connectionId,
      subscription.eventTypes,
      callback.plain,
      subscription.secretSealed,
      subscription.destination,
      subscription.unproven ?? false,
      callback.sealed,
    ],
  );
  return row;
}

/** A subscription as it is under its lock: what was read before may have changed meanwhile. */
export interface LockedSubscription
  extends Pick<SubscriptionRow, 'active' | 'verified' | 'event_types' | 'callback_url' | 'callback_url_sealed'> {
  health: Health;
  stopping: boolean;
}

/**
 * Locks the connection, then the subscription: the order in every transaction. Undefined when either is gone. `stopping` while a
 * disconnect, or a deactivation, still cancels what it left: open deliveries of inactive subscriptions. One of a workspace counts as
 * one of a connection that is ready; connections that are being stored wait for it, and it for them (EVT-23).
 */
export async function lockSubscription(
  tx: Sql,
  subscription: { id: string; connection_id: string | null },
): Promise<LockedSubscription | undefined> {
  if (subscription.connection_id === null) await lockMembersOf(tx, subscription.id);
  const [connection] = await tx.query<{ health: Health; stopping: boolean }>(
    'lockConnectionOfSubscription',
    `select health, cancel_through is not null as stopping from connection
     where id = $1 and deleted_at is null for no key update`,
    [subscription.connection_id],
  );
  const [row] = await tx.query<Omit<LockedSubscription, 'health' | 'stopping'> & { settling: boolean }>(
    'lockSubscription',
    `select active, verified, event_types, callback_url, callback_url_sealed, settled_at is not null as settling from subscription
     where id = $1 and deleted_at is null for no key update`,
    [subscription.id],
  );
  if (!row) return undefined;
  const { settling, ...locked } = row;
  if (subscription.connection_id === null) return { ...locked, health: 'ready', stopping: settling };
  return connection && { ...locked, ...connection };
}

const MEMBERS_LOCK = 7_301_848;

/** Holds off connections of the workspace that are being stored, until the transaction ends. */
export async function lockMembers(tx: Sql, workspaceId: string): Promise<void> {
  await tx.query('lockMembers', 'select pg_advisory_xact_lock($1, hashtext($2))', [MEMBERS_LOCK, workspaceId]);
}

async function lockMembersOf(tx: Sql, id: string): Promise<void> {
  const [row] = await tx.query<{ workspace_id: string }>(
    'workspaceOfSubscription',
    'select workspace_id from subscription where id = $1',
    [id],
  );
  if (row) await lockMembers(tx, row.workspace_id);
}

/** The address of a new subscription has proven itself: it is active when its connection is ready now. Undefined when either is gone, or deleted. */
export async function proveSubscription(sql: Sql, id: string): Promise<SubscriptionRow | undefined> {
  const [row] = await sql.query<SubscriptionRow>(
    'proveSubscription',
    `with ready as materialized (
       select c.id, c.health = 'ready' as ready from connection c
       where c.id = (select connection_id from subscription where id = $1) and c.deleted_at is null for share
     )
     update subscription s set verified = true, active = r.ready from ready r
     where s.id = $1 and s.connection_id = r.id and s.deleted_at is null returning ${COLUMNS}`,
    [id],
  );
  return row;
}

/** The address of the subscription has proven itself. */
export async function markVerified(sql: Sql, id: string): Promise<void> {
  await sql.query('markVerified', 'update subscription set verified = true where id = $1', [id]);
}

/** inactive → active. */
export async function activateSubscription(tx: Sql, id: string): Promise<void> {
  await tx.query('activateSubscription', 'update subscription set active = true where id = $1', [id]);
}

/** Where most deliveries end: their number follows from that of all. */
const USUAL = 'delivered' satisfies DeliveryStatus;
const COUNTED = DELIVERY_STATUSES.filter((status) => status !== USUAL);

/** Of a subscription `s`: its deliveries that are there. Each was counted when it was recorded, and so are those that are erased. */
const RECORDED =
  's.delivery_count - coalesce((select e.deliveries from erased_deliveries e where e.subscription_id = s.id), 0)';
const RECORDED_OF_MEMBERS = `coalesce(sum(${RECORDED}), 0)::bigint`;

const countBy = (whose: 'subscription_id' | 'parent_id', all: string, kept = ''): string =>
  `select o.status, (select count(*) from delivery d where d.${whose} = $1 ${kept} and d.status = o.status) as count
   from unnest($2::text[]) o(status) union all ${all}`;
const COUNT = countBy('subscription_id', `select null, ${RECORDED} from subscription s where s.id = $1`);
const COUNT_OF_MEMBERS = countBy(
  'parent_id',
  `select null, ${RECORDED_OF_MEMBERS} from subscription s where s.parent_id = $1`,
);
/** But those of `hiddenMembers`. */
const COUNT_OF_KEPT_MEMBERS = countBy(
  'parent_id',
  `select null, ${RECORDED_OF_MEMBERS} from subscription s where s.parent_id = $1 and s.id <> all($3::uuid[])`,
  'and d.subscription_id <> all($3::uuid[])',
);

/**
 * How many deliveries the subscription has in each status. Those that are delivered, which may be millions, are not read: they are what the others
 * leave of all, in the view of one statement. Index only: delivery_by_status, delivery_of_parent; of a workspace's, a row a member.
 */
export async function countDeliveries(
  sql: Sql,
  { id, connection_id }: Pick<SubscriptionRow, 'id' | 'connection_id'>,
): Promise<Record<DeliveryStatus, number>> {
  const hidden = connection_id === null ? await hiddenMembers(sql, id) : [];
  const [name, text] =
    connection_id !== null
      ? ['countDeliveries', COUNT]
      : hidden.length === 0
        ? ['countDeliveriesOfMembers', COUNT_OF_MEMBERS]
        : ['countDeliveriesOfKeptMembers', COUNT_OF_KEPT_MEMBERS];
  const values = hidden.length === 0 ? [id, COUNTED] : [id, COUNTED, hidden];
  const rows = await sql.query<{ status: DeliveryStatus | null; count: number }>(`${name}`, `${text}`, values);
  const counts = { pending: 0, sending: 0, delivered: 0, failed: 0, canceled: 0 };
  for (const { status, count } of rows) {
    counts[status ?? USUAL] += count;
    if (status !== null) counts[USUAL] -= count;
  }
  return counts;
}
