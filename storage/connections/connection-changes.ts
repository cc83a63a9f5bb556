import { cancelDeliveries } from '../deliveries/cancellation.js';
import type { Provider } from '../model/records.js';
import { OPERATION_STEPS, transition } from '../model/transitions.js';
import { type Sql, violatedConstraint } from '../postgres/database.js';
import { jobIds, removeJobs } from '../postgres/job-table.js';

/**
 * What PATCH, disconnect and delete do to a connection, inside one transaction each. All of them begin with
 * `lockIdleConnection`: FOR UPDATE waits for a starting operation, which holds the row FOR KEY SHARE, and no further one
 * starts before the commit (CONN-5).
 */
export interface LockedConnection {
  id: string;
  partition: number;
  provider: Provider;
  region: string | null;
}

/** Locks the connection. `undefined` when it is gone; `busy` when an operation of it is running or waiting. */
export async function lockIdleConnection(
  tx: Sql,
  connectionId: string,
): Promise<LockedConnection | 'busy' | undefined> {
  const [row] = await tx.query<LockedConnection>(
    'lockConnection',
    'select id, partition, provider, region from connection where id = $1 for update',
    [connectionId],
  );
  if (!row) return undefined;
  return (await hasRunningOperation(tx, connectionId)) ? 'busy' : row;
}

/** True while an operation of the connection is running or waiting for the user. */
export async function hasRunningOperation(sql: Sql, connectionId: string): Promise<boolean> {
  const rows = await sql.query(
    'hasRunningOperation',
    'select 1 as running from running_operation where connection_id = $1',
    [connectionId],
  );
  return rows.length > 0;
}

// What the loss of a session resets (CONN-9, CONN-10). A simulated connection has no session to lose: it stays ready.
const SESSION_LOST = `health = case when provider = 'simulated' then 'ready' else 'needs_login' end,
  state_revision = state_revision + 1, session_sealed = null, session_revision = null,
  recruiter_health = 'not_verified', recruiter_reason = null, recruiter_contract = null, recruiter_verified_at = null,
  recruiter_verified_revision = null, recruiter_operation_id = null`;

/**
 * New credentials or region: the session is dropped and the next login starts without one. A new region drops the pinned proxy; a
 * new password keeps it.
 */
export async function changeCredentials(
  tx: Sql,
  connectionId: string,
  change: { passwordSealed: Buffer | null; region: string | null },
): Promise<void> {
  await tx.query(
    'changeCredentials',
    `update connection set ${SESSION_LOST}, credential_version = credential_version + 1,
       password_sealed = coalesce($2, password_sealed),
       proxy_id = case when $3::text is null or $3 = region then proxy_id end,
       region = coalesce($3, region)
     where id = $1`,
    [connectionId, change.passwordSealed, change.region],
  );
}

/** Clears the session; history stays (contract: "Connection health", disconnect). */
export async function clearSession(tx: Sql, connectionId: string): Promise<void> {
  await tx.query('clearSession', `update connection set ${SESSION_LOST} where id = $1`, [connectionId]);
}

const CANCEL_QUEUED = OPERATION_STEPS.sql('queued', 'canceled');

/**
 * queued → canceled for every queued operation of the connection; their jobs are removed. Returns how many there were. They are
 * found by the jobs of the partition: a queued operation has one, the history has none however long it is.
 */
export async function cancelQueuedOperations(
  tx: Sql,
  connection: { id: string; partition: number },
  reason: string,
): Promise<number> {
  const rows = await tx.query<{ id: string }>(
    'cancelQueuedOperations',
    `update operation set status = ${CANCEL_QUEUED.to}, timeline = timeline || $2::jsonb, updated_at = now()
     where connection_id = $1 and status ${CANCEL_QUEUED.from}
       and id in (${jobIds('operation', '$3::smallint')})
     returning id`,
    [connection.id, JSON.stringify([transition('queued', 'canceled', reason, new Date())]), connection.partition],
  );
  const { partition } = connection;
  await removeJobs(
    tx,
    rows.map(({ id }) => ({ queue: 'operation', partition, id })),
  );
  return rows.length;
}

/** pending or sending → canceled for every subscription of the connection, whose jobs go; all become inactive. */
export async function disableSubscriptions(tx: Sql, connection: { id: string; partition: number }): Promise<void> {
  // The subscriptions first: recording an event locks them until its commit, so its deliveries are seen below.
  const rows = await tx.query<{ id: string }>(
    'disableSubscriptions',
    'update subscription set active = false where connection_id = $1 returning id',
    [connection.id],
  );
  await cancelDeliveries(
    tx,
    connection.partition,
    rows.map((row) => row.id),
  );
}

/**
 * Deletes the connection and all its history. The keys of its operations stay as hashed tombstones, so that a
 * reused one conflicts and never sends again (CONN-7).
 */
export async function deleteConnection(tx: Sql, connectionId: string): Promise<void> {
  await tx.query(
    'leaveTombstones',
    `insert into idempotency_tombstone (workspace_id, key_hash)
     select workspace_id, sha256(convert_to(idempotency_key, 'UTF8')) from operation where connection_id = $1
     on conflict do nothing`,
    [connectionId],
  );
  await tx.query('deleteConnection', 'delete from connection where id = $1', [connectionId]);
}

/** True for the error of a statement that would give an account a second connection. */
export function isIdentityTaken(error: unknown): boolean {
  return violatedConstraint(error) === 'connection_identity';
}
