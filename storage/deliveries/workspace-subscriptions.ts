import { removeJobs } from '../jobs/job-table.js';
import { LIMITS } from '../limits.js';
import type { EventType } from '../model/records.js';
import type { Database, Sql } from '../postgres/database.js';
import { callbackUrlContext } from '../secrets/sealing.js';
import { cancelOpenDeliveries } from './cancellation.js';
import { type QueuedSubscription, wakeSubscriptions } from './delivery-queue.js';
import type { SubscriptionBounds } from './subscription-bounds.js';
import { lockMembers, lockSubscription } from './subscriptions.js';

/**
 * Subscriptions of all connections of a workspace (EVT-23). Its row, the parent, has address, types, secrets and hold; a member for each
 * connection has the deliveries, so that connections neither wait for each other nor for their order.
 *
 *     the parent changes ─▶ settling: slice after slice of the connections ─▶ settled
 *                              ▲                                                │
 *                              └────────── it changes again ────────────────────┘
 *
 * I1 a connection that is stored after the parent was stored or changed gets its member as that is in its own transaction, one that was
 *    stored before in a slice: the lock of `lockMembers` and of the trigger on connections puts the one before the other;
 * I2 what stops (inactive, on hold) stops with the parent's commit: who starts attempts asks it. What a member copies (`active`, types,
 *    destination) follows, slice by slice, under the lock of its connection;
 * I3 whoever comes after a crash goes on where the last slice ended: `settled_at` and `settled_id`.
 */
export interface NewWorkspaceSubscription {
  id: string;
  workspaceId: string;
  eventTypes: EventType[];
  callbackUrl: string;
  secretSealed: Buffer;
  destination: Buffer | null;
  /** It stays inactive until `proveWorkspaceSubscription`. */
  unproven: boolean;
}

const BEFORE_ALL = { at: '-infinity', id: '00000000-0000-0000-0000-000000000000' } as const;

/**
 * Whether the workspace may have one more subscription of all connections: as many as one connection may have of its own, and as many to
 * one destination. Exact until the transaction ends, which is to insert it. Index: subscription_of_workspace.
 */
export async function roomForWorkspaceSubscription(
  tx: Sql,
  workspaceId: string,
  destination: Buffer | null,
  bounds: SubscriptionBounds,
): Promise<boolean> {
  await lockMembers(tx, workspaceId);
  const [used] = await tx.query<{ of_workspace: number; of_all: number; of_destination: number }>(
    'countWorkspaceSubscriptions',
    `with counted as (
       insert into subscription_count as c (workspace_id, subscriptions) values ($1, 0)
       on conflict (workspace_id) do update set subscriptions = c.subscriptions returning subscriptions
     )
     select (select subscriptions from counted) as of_workspace, count(*) as of_all, count(*) filter (where destination = $2) as of_destination
     from subscription where workspace_id = $1 and connection_id is null and deleted_at is null`,
    [workspaceId, destination],
  );
  if (!used) throw new Error('a count has no row');
  return (
    used.of_workspace < bounds.ofWorkspace &&
    used.of_all < bounds.ofConnection &&
    used.of_destination < bounds.ofDestination
  );
}

/** Stores one, to be settled. In the transaction of `roomForWorkspaceSubscription`, which holds the lock (I1). */
export async function insertWorkspaceSubscription(tx: Sql, subscription: NewWorkspaceSubscription): Promise<void> {
  const callback = tx.vault.store(subscription.callbackUrl, callbackUrlContext(subscription.id));
  await tx.query(
    'insertWorkspaceSubscription',
    `insert into subscription (id, workspace_id, event_types, callback_url, callback_url_sealed, active, secret_sealed, destination,
       settled_at, settled_id)
     values ($1, $2, $3, $4, $5, not $6, $7, $8, $9, $10)`,
    [
      ...[subscription.id, subscription.workspaceId, subscription.eventTypes, callback.plain, callback.sealed],
      ...[subscription.unproven, subscription.secretSealed, subscription.destination, BEFORE_ALL.at, BEFORE_ALL.id],
    ],
  );
}

/** Its address has proven itself: it is active, and to be settled. Run it in a transaction. */
export async function proveWorkspaceSubscription(tx: Sql, id: string): Promise<void> {
  if (!(await lockSubscription(tx, { id, connection_id: null }))) return;
  await tx.query('proveWorkspaceSubscription', 'update subscription set verified = true where id = $1', [id]);
  await setWorkspaceActive(tx, id, true);
}

/** It changed: its members are to follow, all of them. In the transaction of the change, which has locked it (I1). */
export async function unsettle(tx: Sql, id: string): Promise<void> {
  await tx.query('unsettleSubscription', 'update subscription set settled_at = $2, settled_id = $3 where id = $1', [
    id,
    BEFORE_ALL.at,
    BEFORE_ALL.id,
  ]);
}

/** active ↔ inactive, and to be settled. The caller has locked it. */
export async function setWorkspaceActive(tx: Sql, id: string, active: boolean): Promise<void> {
  await tx.query('setWorkspaceActive', 'update subscription set active = $2 where id = $1', [id, active]);
  await unsettle(tx, id);
}

/** Those that are to be settled (I3). Index: subscription_unsettled. */
export async function unsettledSubscriptions(sql: Sql): Promise<string[]> {
  const rows = await sql.query<{ id: string }>(
    'unsettledSubscriptions',
    'select id from subscription where settled_at is not null order by id limit $1',
    [LIMITS.removal_connections],
  );
  return rows.map(({ id }) => id);
}

/**
 * Lets the members follow, slice by slice, until all have (then true) or `enough` says so, or another is at it (then false). `woken`
 * gets the connections whose deliveries became due.
 */
export async function settle(
  db: Database,
  id: string,
  enough: () => boolean | Promise<boolean>,
  woken: (connectionIds: string[]) => void = () => {},
): Promise<boolean> {
  for (let most: number = LIMITS.settle_connections; ; ) {
    if (await enough()) return false;
    const size = most;
    const slice = await db.transaction((tx) => settleSlice(tx, id, size));
    if (slice === 'elsewhere') return false;
    woken(slice.woken);
    if (slice.settled) return true;
    // Behind what was passed is one that another transaction holds. It is waited for alone, so that nothing else is held meanwhile.
    most = slice.skipped ? 1 : LIMITS.settle_connections;
  }
}

interface Parent {
  workspace_id: string;
  event_types: EventType[];
  destination: Buffer | null;
  active: boolean;
  on_hold: boolean;
  settled_at: string;
  settled_id: string;
}

interface Place {
  id: string;
  created_at: string;
}

interface Live {
  id: string;
  partition: number;
  ready: boolean;
  /** A disconnect, or a deactivation, is still being canceled. */
  stopping: boolean;
}

interface SettledSlice {
  settled: boolean;
  /** Members were left out, because others held them. */
  skipped: boolean;
  woken: string[];
}

/** One slice of `most` connections (I3). */
async function settleSlice(tx: Sql, id: string, most: number): Promise<SettledSlice | 'elsewhere'> {
  const [parent] = await tx.query<Parent>(
    'lockUnsettled',
    `select workspace_id, event_types, destination, active, on_hold, settled_at::text, settled_id,
       set_config('synchronous_commit', 'off', true)
     from subscription where id = $1 and settled_at is not null and deleted_at is null for no key update skip locked`,
    [id],
  );
  if (!parent) {
    const [row] = await tx.query<{ settling: boolean }>(
      'readSettling',
      'select settled_at is not null and deleted_at is null as settling from subscription where id = $1',
      [id],
    );
    return row?.settling ? 'elsewhere' : { settled: true, skipped: false, woken: [] };
  }
  const { page, live } = await lockPage(tx, parent, most);
  const held = await writeMembers(tx, id, parent, live, most > 1);
  const first = page.findIndex((connection) => held.has(connection.id));
  const skipped = first >= 0;
  // Up to the first whose member another transaction holds: the next slice begins with it.
  const passed = skipped ? page.slice(0, first) : page;
  const connections = passed.map((connection) => connection.id);
  if (!parent.active) {
    await removeJobs(tx, await queuedMembers(tx, id, connections));
    const canceled = await cancelOpenDeliveries(tx, connections, LIMITS.removal_rows);
    if (canceled === LIMITS.removal_rows) return { settled: false, skipped: false, woken: [] };
  }
  const woken = parent.active && !parent.on_hold ? await wakeMembers(tx, id, connections) : [];
  const settled = !skipped && page.length < most;
  const last = passed.at(-1);
  if (settled || last) {
    await tx.query('passSettled', 'update subscription set settled_at = $2, settled_id = $3 where id = $1', [
      id,
      ...(settled || !last ? [null, null] : [last.created_at, last.id]),
    ]);
  }
  return { settled, skipped, woken };
}

/**
 * In the order in which they were stored, locked in that of their ids, as by all others who lock several. `live` leaves out those that are
 * gone meanwhile, and is found one by one, whatever the planner expects. Index: connection_live.
 */
async function lockPage(
  tx: Sql,
  { workspace_id, settled_at, settled_id }: Parent,
  most: number,
): Promise<{ page: Place[]; live: Live[] }> {
  const page = await tx.query<Place>(
    'connectionsToSettle',
    `select c.id, c.created_at::text from connection c
     where c.workspace_id = $1 and c.deleted_at is null and (c.created_at, c.id) > ($2::timestamptz, $3::uuid)
     order by c.created_at, c.id limit $4`,
    [workspace_id, settled_at, settled_id, most],
  );
  const live = await tx.query<Live>(
    'lockConnectionsToSettle',
    `select c.* from unnest($1::uuid[]) p(id) cross join lateral (
       select id, partition, health = 'ready' as ready, cancel_through is not null as stopping from connection
       where id = p.id limit 1 for no key update) c`,
    [page.map(({ id }) => id).sort()],
  );
  return { page, live };
}

/**
 * A member is active while its parent is, but becomes so only when nothing of its connection is being canceled. One that becomes so where
 * the connection is not ready awaits that. Gives the connections whose members another transaction holds.
 */
async function writeMembers(
  tx: Sql,
  id: string,
  { workspace_id, event_types, destination, active }: Parent,
  live: Live[],
  skip: boolean,
): Promise<Set<string>> {
  const follows = '($8 and (m.active or not l.stopping))';
  const awaits = '(not l.ready and (m.awaits_ready or not m.active))';
  const held = await tx.query<{ connection_id: string }>(
    skip ? 'writeFreeMembers' : 'writeMember',
    `with live as materialized (
       select * from unnest($2::uuid[], $3::smallint[], $4::boolean[], $5::boolean[]) l(id, partition, ready, stopping)
     ), present as materialized (
       ${members('m.id, m.connection_id')}
     ), held as materialized (
       select m.id from subscription m where m.id = any(array(select id from present)) for no key update ${skip ? 'skip locked' : ''}
     ), made as (
       insert into subscription (id, workspace_id, connection_id, partition, event_types, active, awaits_ready, destination, parent_id)
       select gen_random_uuid(), $6, l.id, l.partition, $7, $8 and not l.stopping, not l.ready, $9, $1
       from live l where l.id not in (select connection_id from present) on conflict do nothing
     ), changed as (
       update subscription m set event_types = $7, destination = $9, active = ${follows}, awaits_ready = ${awaits} from live l
       where m.id = any(array(select id from held)) and l.id = m.connection_id
         and (m.event_types <> $7 or m.destination is distinct from $9 or m.active <> ${follows} or m.awaits_ready <> ${awaits})
     )
     select p.connection_id from present p where p.id not in (select id from held)`,
    [
      ...[
        id,
        live.map((l) => l.id),
        live.map((l) => l.partition),
        live.map((l) => l.ready),
        live.map((l) => l.stopping),
      ],
      ...[workspace_id, event_types, active, destination],
    ],
  );
  return new Set(held.map((member) => member.connection_id));
}

/** Columns of the members `m` of the parent $1 and these connections, $2: one step of the index each, whatever the planner expects. */
const members = (columns: string): string =>
  `select m.* from unnest($2::uuid[]) c(id) cross join lateral (
     select ${columns} from subscription m where m.parent_id = $1 and m.connection_id = c.id limit 1) m`;

async function queuedMembers(tx: Sql, id: string, connectionIds: string[]) {
  const found = await tx.query<QueuedSubscription>('queuedMembers', members('m.id, m.partition'), [id, connectionIds]);
  return found.map((member) => ({ queue: 'delivery' as const, ...member }));
}

/** Those that have something to send. Gives their connections. Index: delivery_due. */
async function wakeMembers(tx: Sql, id: string, connectionIds: string[]): Promise<string[]> {
  const found = await tx.query<QueuedSubscription & { connection_id: string }>(
    'pendingMembers',
    `select p.id, p.partition, p.connection_id from (${members('m.id, m.partition, m.connection_id, m.active')}) p
     where p.active and exists (select from delivery d where d.subscription_id = p.id and d.status = 'pending')`,
    [id, connectionIds],
  );
  await wakeSubscriptions(
    tx,
    found.map(({ id: member, partition }) => ({ id: member, partition })),
  );
  return found.map((member) => member.connection_id);
}
