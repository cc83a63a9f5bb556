import { removeJobs } from '../jobs/job-table.js';
import { LIMITS } from '../limits.js';
import type { EventType } from '../model/records.js';
import type { Sql } from '../postgres/database.js';
import { callbackUrlContext } from '../secrets/sealing.js';
import { wakeSubscriptions } from './delivery-queue.js';
import { callbackUrlOf, isShown, lockSubscription, type SubscriptionRow } from './subscriptions.js';
import { unsettle } from './workspace-subscriptions.js';

/** What a subscription gets, and where (EVT-22). */
export interface SubscriptionChange {
  eventTypes: EventType[];
  callbackUrl: string;
  destination: Buffer | null;
  /** Whether this address has proven itself for this change, and whether another one has to. */
  proof: { given: boolean; wanted: boolean };
  /** How many there may be of one connection, or of the workspace, to one destination. */
  ofDestination: number;
}

/** What came of a change: `moved` when the address is another one. */
export type Changed = 'gone' | 'unchanged' | 'full' | 'unproven' | 'changed' | 'moved';

/**
 * Changes the subscription: the next attempt of each of its deliveries goes to the address, and events are selected by the types, from the
 * commit on, of a subscription of the workspace as its members follow. `unchanged` when it is so already, `full` when its destination has as
 * many as it may, `unproven` when its address has been changed meanwhile, and this one is another again and has to prove itself first. Run it
 * in a transaction.
 */
export async function changeSubscription(
  tx: Sql,
  {
    id,
    workspace_id,
    connection_id,
    partition,
  }: Pick<SubscriptionRow, 'id' | 'workspace_id' | 'connection_id' | 'partition'>,
  { eventTypes, callbackUrl, destination, proof, ofDestination }: SubscriptionChange,
): Promise<Changed> {
  const locked = await lockSubscription(tx, { id, connection_id });
  if (!locked) return 'gone';
  const moved = callbackUrl !== callbackUrlOf(tx, { id, ...locked });
  if (!moved && eventTypes.join() === locked.event_types.join()) return 'unchanged';
  if (moved && proof.wanted && !proof.given) return 'unproven';
  const [others] = await tx.query<{ count: number }>(
    connection_id === null ? 'countOthersOfWorkspace' : 'countOthersOfConnection',
    `select count(*) from (
       select from subscription s where ${connection_id === null ? 'workspace_id = $1 and connection_id is null' : 'connection_id = $1'}
         and destination = $2 and id <> $3 and ${isShown('s')} limit $4) found`,
    [connection_id ?? workspace_id, destination, id, ofDestination],
  );
  if (moved && others && others.count >= ofDestination) return 'full';
  const callback = tx.vault.store(callbackUrl, callbackUrlContext(id));
  await tx.query(
    'changeSubscription',
    `update subscription set event_types = $2, callback_url = $3, callback_url_sealed = $4, destination = $5, verified = $6 where id = $1`,
    [id, eventTypes, callback.plain, callback.sealed, destination, moved ? proof.given : locked.verified],
  );
  if (connection_id === null) await unsettle(tx, id);
  else if (locked.active && partition !== null) await wakeSubscriptions(tx, [{ id, partition }]);
  return moved ? 'moved' : 'changed';
}

/**
 * Hides the subscription and stops it; `dropDeleted` removes its rows. False when it is gone. Run it in a transaction.
 */
export async function deleteSubscription(
  tx: Sql,
  { id, connection_id, partition }: Pick<SubscriptionRow, 'id' | 'connection_id' | 'partition'>,
): Promise<boolean> {
  if (!(await lockSubscription(tx, { id, connection_id }))) return false;
  await tx.query(
    'deleteSubscription',
    'update subscription set deleted_at = now(), active = false, settled_at = null, settled_id = null where id = $1',
    [id],
  );
  if (partition !== null) await removeJobs(tx, [{ queue: 'delivery', partition, id }]);
  return true;
}

/** Those whose rows are to go, but for these; what a connection leaves goes with it. Index: subscription_deleted. */
export async function deletedSubscriptions(sql: Sql, but: readonly string[]): Promise<string[]> {
  const rows = await sql.query<{ id: string }>(
    'deletedSubscriptions',
    'select id from subscription where deleted_at is not null and id <> all($2) order by id limit $1',
    [LIMITS.removal_connections, but],
  );
  return rows.map(({ id }) => id);
}

/**
 * One slice of the rows of a deleted subscription, so many at most, in a transaction: deliveries with their attempts, then members, then itself. A delivery that is being recorded for a member
 * meanwhile goes with the member. Gives `last` null when it is gone.
 * Indexes: delivery_by_rank, delivery_of_parent, subscription_member.
 */
export async function dropDeleted(
  tx: Sql,
  id: string,
  _after = id,
  rows: number = LIMITS.removal_rows,
): Promise<{ last: string | null }> {
  for (const [name, whose, order] of [
    ['dropOwnDeliveries', 'subscription_id', 'rank'],
    ['dropDeliveriesOfMembers', 'parent_id', 'status, event_id'],
  ]) {
    const deliveries = await tx.query(
      `${name}`,
      `delete from delivery where id = any(array(
         select id from delivery where ${whose} = $1 order by ${order} limit $2 for update skip locked)) returning 1`,
      [id, rows],
    );
    if (deliveries.length === rows) return { last: id };
  }
  const members = await tx.query(
    'dropMembers',
    `delete from subscription where id = any(array(
       select id from subscription where parent_id = $1 limit $2 for update skip locked)) returning 1`,
    [id, rows],
  );
  if (members.length > 0) return { last: id };
  await tx.query(
    'dropDeletedSubscription',
    `delete from subscription s where id = $1 and deleted_at is not null and not exists (
       select from subscription m where m.parent_id = s.id)`,
    [id],
  );
  return { last: null };
}
