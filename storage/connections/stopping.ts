import { cancelOpenDeliveries } from '../deliveries/cancellation.js';
import { removeJobs } from '../jobs/job-table.js';
import { isMailboxOf, MAILBOX, markOf } from '../jobs/mailbox-jobs.js';
import { LIMITS } from '../limits.js';
import { OPERATION_STEPS, transition } from '../model/transitions.js';
import type { Database, Sql } from '../postgres/database.js';

/**
 * Stopping what a connection still has to do, for a disconnect and a delete: its open deliveries and its queued operations become
 * canceled, however many there are, in transactions of a bounded size. Deactivating a subscription does so for its deliveries.
 *
 *     stopWork or stopSubscription, in the transaction that locks the connection ─▶ all is canceled, or cancel_through is set
 *     stopRest, transaction by transaction ─▶ all is canceled, and cancel_through is null again
 *
 * I1 from that commit on nothing of it starts: an operation up to `cancel_through` does not, nor does a delivery of
 *    an inactive subscription;
 * I2 what is left is found again after a crash: by `cancel_through`, of which connection_canceling is the index;
 * I3 what a disconnect ends is told to subscriptions of the workspace (EVT-23): their members become active again between the last delivery that is
 *    canceled and the first operation, and what is to be told waits for that (`tell`).
 */
export interface StoppingConnection {
  id: string;
  partition: number;
  /** The reason in the timelines of its operations. */
  reason: 'connection_disconnected' | 'connection_deleted';
}

/** Above the id of every operation; the mark of a deleted connection. */
export const EVERY_OPERATION = 'ffffffff-ffff-ffff-ffff-ffffffffffff';
const BEFORE_ALL = '00000000-0000-0000-0000-000000000000';

/** Stops a connection that the caller has locked (I1). False when `stopRest` has to go on after the commit. */
export async function stopWork(tx: Sql, connection: StoppingConnection): Promise<boolean> {
  // The subscriptions first: recording an event locks them until its commit, so its deliveries are seen below. A member that awaits that its
  // connection is ready has nothing but what it is told: a disconnect that is repeated leaves that to it (CONN-6).
  const subscriptions = await tx.query<{ id: string }>(
    'disableSubscriptions',
    'update subscription set active = false where connection_id = $1 and not (awaits_ready and $2) returning id',
    [connection.id, connection.reason === 'connection_disconnected'],
  );
  await removeJobs(
    tx,
    subscriptions.map(({ id }) => ({ queue: 'delivery', partition: connection.partition, id })),
  );
  if (await cancelDeliveries(tx, connection.id)) {
    const operations = await cancelQueuedPage(tx, connection, EVERY_OPERATION, BEFORE_ALL);
    if (operations.seen < LIMITS.removal_rows) return true;
  }
  await tx.query(
    'cancelThrough',
    `update connection set cancel_through = greatest(cancel_through, coalesce(
       (select id from operation where connection_id = $1 order by id desc limit 1), $2)) where id = $1`,
    [connection.id, BEFORE_ALL],
  );
  return false;
}

/** One page of the open deliveries of a connection that the caller has locked. True when none is left: then its members are told of it again (I3). */
async function cancelDeliveries(tx: Sql, connectionId: string): Promise<boolean> {
  const canceled = await cancelOpenDeliveries(tx, [connectionId], LIMITS.removal_rows);
  if (canceled === LIMITS.removal_rows) return false;
  // The provider's events begin again when the connection is ready.
  await tx.query(
    'membersAwaitReady',
    `update subscription s set active = true, awaits_ready = c.health <> 'ready' from subscription parent, connection c
     where c.id = $1 and c.deleted_at is null and s.connection_id = c.id and s.parent_id = parent.id and parent.active and not s.active`,
    [connectionId],
  );
  return true;
}

/**
 * active → inactive for a subscription whose connection the caller has locked (I1); its pending and sending deliveries become canceled
 * and its job is removed. False when `stopRest` has to go on after the commit.
 */
export async function stopSubscription(
  tx: Sql,
  { id, partition, connection_id }: { id: string; partition: number; connection_id: string },
): Promise<boolean> {
  await tx.query('deactivateSubscription', 'update subscription set active = false where id = $1', [id]);
  await removeJobs(tx, [{ queue: 'delivery', partition, id }]);
  const deliveries = await cancelOpenDeliveries(tx, [connection_id], LIMITS.removal_rows);
  if (deliveries < LIMITS.removal_rows) return true;
  await tx.query(
    'cancelDeliveriesLater',
    'update connection set cancel_through = coalesce(cancel_through, $2) where id = $1',
    [connection_id, BEFORE_ALL],
  );
  return false;
}

/**
 * Cancels what these left, until nothing is left (then true) or `enough` says so, or a later stop has moved the mark (then false). Any number
 * of callers may do so at a time.
 */
export async function stopRest(
  db: Database,
  connection: StoppingConnection,
  enough: () => boolean | Promise<boolean>,
): Promise<boolean> {
  const [row] = await db.query<{ cancel_through: string }>(
    'readCancelThrough',
    'select cancel_through from connection where id = $1 and cancel_through is not null',
    [connection.id],
  );
  if (!row) return true;
  const mark = row.cancel_through;
  for (let left: Left = 'more'; left === 'more'; ) {
    if (await enough()) return false;
    left = await db.transaction((tx) => cancelRestOfDeliveries(tx, connection.id, mark));
    if (left === 'moved') return false;
  }
  for (let after = mark !== BEFORE_ALL ? BEFORE_ALL : null; after !== null; ) {
    if (await enough()) return false;
    const from: string = after;
    const page = await db.transaction((tx) => cancelQueuedPage(tx, connection, mark, from));
    after = page.last;
  }
  return db.transaction(async (tx) => {
    // Once more, under the lock under which the mark goes: a stop may have left more under the same mark.
    if ((await cancelRestOfDeliveries(tx, connection.id, mark)) !== 'none') return false;
    await tx.query(
      'forgetCancelThrough',
      'update connection set cancel_through = null where id = $1 and deleted_at is null',
      [connection.id],
    );
    return true;
  });
}

/** `moved`: the rest is that of a later stop. */
type Left = 'more' | 'none' | 'moved';

/** Locks the connection, then looks for its deliveries: what is found is neither of a login that came meanwhile nor of a later disconnect. */
async function cancelRestOfDeliveries(tx: Sql, connectionId: string, mark: string): Promise<Left> {
  const [stopping] = await tx.query(
    'lockStopping',
    'select from connection where id = $1 and cancel_through = $2 for no key update',
    [connectionId, mark],
  );
  if (!stopping) return 'moved';
  return (await cancelDeliveries(tx, connectionId)) ? 'none' : 'more';
}

/** A connection whose work `stopRest` is to go on stopping (I2). */
export function stoppingConnections(sql: Sql): Promise<StoppingConnection[]> {
  return sql.query<StoppingConnection>(
    'stoppingConnections',
    `select id, partition, 'connection_disconnected' as reason from connection
     where cancel_through is not null and deleted_at is null order by id limit $1`,
    [LIMITS.removal_connections],
  );
}

const CANCEL_QUEUED = OPERATION_STEPS.sql('queued', 'canceled');

// An array, not a join: without a queue when it was analysed, the planner takes the status for what finds few rows, and compares each
// queued operation of the table with each of the page.
/**
 * queued → canceled for those of one page of the connection's operations after the id `after`, from the mark of its mailbox on, up to the
 * operation `through`. Without a mailbox there is none. Its owner finds that nothing is left.
 */
async function cancelQueuedPage(
  tx: Sql,
  { id, partition, reason }: StoppingConnection,
  through: string,
  after: string,
): Promise<{ seen: number; last: string | null }> {
  const [page] = await tx.query<{ seen: number; last: string | null }>(
    'cancelQueuedPage',
    `with page as materialized (
       select o.id from ${MAILBOX} j cross join lateral (
         select q.id from operation q where q.connection_id = j.id and q.id >= ${markOf('j.data')} and q.id > $3::uuid
         order by q.id limit $4
       ) o where ${isMailboxOf('$2::smallint', '$1::uuid')}
     ), canceled as (
       update operation o set status = ${CANCEL_QUEUED.to}, timeline = o.timeline || $5::jsonb, updated_at = now()
       where o.id = any(array(select id from page)) and o.id <= $6::uuid and o.status ${CANCEL_QUEUED.from}
     )
     select (select count(*) from page)::int as seen, (select p.id from page p order by p.id desc limit 1) as last`,
    [
      id,
      partition,
      after,
      LIMITS.removal_rows,
      JSON.stringify([transition('queued', 'canceled', reason, new Date())]),
      through,
    ],
  );
  return page ?? { seen: 0, last: null };
}
