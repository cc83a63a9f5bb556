import pg from 'pg';
import { isRunning } from '../jobs/mailbox-jobs.js';
import { LIMITS } from '../limits.js';
import type { Provider } from '../model/records.js';
import { type Sql, violatedConstraint } from '../postgres/database.js';
import type { ClientNames } from './connections.js';
import { EVERY_OPERATION } from './stopping.js';

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

/**
 * Locks the connection. `undefined` when it is gone; `busy` when an operation of it is running or waiting; `locked` when another
 * transaction holds it for too long: the caller must roll back. Every later statement of `tx` waits for a lock no longer than this.
 */
export async function lockIdleConnection(
  tx: Sql,
  connectionId: string,
): Promise<LockedConnection | 'busy' | 'locked' | undefined> {
  const row = await lockConnection(tx, connectionId);
  if (!row || row === 'locked') return row;
  return (await hasRunningOperation(tx, row)) ? 'busy' : row;
}

async function lockConnection(tx: Sql, connectionId: string): Promise<LockedConnection | 'locked' | undefined> {
  await tx.query('boundLockWaits', `select set_config('lock_timeout', $1, true)`, [`${LIMITS.change_lock_ms}ms`]);
  try {
    const [row] = await tx.query<LockedConnection>(
      'lockConnection',
      'select id, partition, provider, region from connection where id = $1 and deleted_at is null for update',
      [connectionId],
    );
    return row;
  } catch (error) {
    if (error instanceof pg.DatabaseError && error.code === '55P03') return 'locked';
    throw error;
  }
}

/** True while an operation of the connection is running or waiting for the user. */
async function hasRunningOperation(sql: Sql, { id, partition }: LockedConnection): Promise<boolean> {
  const [row] = await sql.query<{ running: boolean }>(
    'hasRunningOperation',
    `select ${isRunning('$2::smallint', '$1::uuid')} as running`,
    [id, partition],
  );
  return row?.running ?? false;
}

// What the loss of a session resets (CONN-9, CONN-10).
const SESSION_LOST = `health = 'needs_login', state_revision = state_revision + 1, session_sealed = null, session_revision = null,
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
       health_reason = case when $2::bytea is null then 'region_changed' else 'credentials_changed' end,
       password_sealed = coalesce($2, password_sealed),
       proxy_id = case when $3::text is null or $3 = region then proxy_id end,
       region = coalesce($3, region)
     where id = $1`,
    [connectionId, change.passwordSealed, change.region],
  );
}

/** Clears the session; history stays (contract: "Connection health", disconnect). */
export async function clearSession(tx: Sql, connectionId: string): Promise<void> {
  await tx.query(
    'clearSession',
    `update connection set ${SESSION_LOST}, health_reason = 'disconnected' where id = $1`,
    [connectionId],
  );
}

/**
 * Deletes the connection as far as anybody can see (CONN-7): it is hidden with all that belongs to it, its session and credentials
 * are gone, its account may have another connection, and nothing of it starts any more. Its rows are left to `Removals`.
 */
export async function markDeleted(tx: Sql, connectionId: string): Promise<void> {
  await tx.query(
    'markDeleted',
    // No username or id of an actor has a control character.
    `with given as (update reconnect_link set password_sealed = null where connection_id = $1)
     update connection set ${SESSION_LOST}, deleted_at = now(), cancel_through = $2, identity_key = chr(1) || id, reference = null, labels = '{}',
       password_sealed = case when password_sealed is not null then ''::bytea end
     where id = $1`,
    [connectionId, EVERY_OPERATION],
  );
}

/** Changes what the client calls the connection; a name that is left out stays. False when it was deleted. */
export async function changeNames(
  tx: Sql,
  connectionId: string,
  { reference, labels }: Partial<ClientNames>,
): Promise<boolean> {
  const rows = await tx.query<{ id: string }>(
    'changeNames',
    `update connection set reference = case when $2 then $3 else reference end, labels = coalesce($4, labels)
     where id = $1 and deleted_at is null returning id`,
    [connectionId, reference !== undefined, reference ?? null, labels ?? null],
  );
  return rows.length > 0;
}

/** True for the error of a statement that would give an account a second connection. */
export function isIdentityTaken(error: unknown): boolean {
  return violatedConstraint(error) === 'connection_identity';
}
