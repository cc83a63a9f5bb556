import type { Health, RecruiterHealth } from '../model/records.js';
import type { Database, Sql } from '../postgres/database.js';
import { HELD_ATTEMPT } from '../postgres/held-attempt.js';

/** What an execution changes on its connection, in the transaction that ends the operation. */
export interface ConnectionChange {
  connectionId: string;
  /** The revision the execution ran under; on any other the change is not applied (CONN-10). */
  expectedRevision: number;
  revision: number;
  health: Health | null;
  /** Why; only of a `health`. */
  healthReason: string | null;
  sessionSealed: Buffer | null;
  /** The stored session that the change is about; on any other it is not applied, because the site renewed it meanwhile. Null: whichever. */
  ofSession: Buffer | null;
  actorId: string | null;
  /** The password, sealed, that was given at a reconnect link and has proved right; null leaves the stored one (CONN-15). */
  passwordSealed: Buffer | null;
  /** The proxy that the session lives behind from now on; null leaves the pin. Not applied when that proxy is gone or switched off. */
  proxyId: string | null;
  recruiter: { health: RecruiterHealth; reason: string | null; contract: string | null; operationId: string } | null;
}

/**
 * Applies a change. Triggers of the schema go with a new health, in the same transaction: `connection_health_told` announces it (EVT-20),
 * `connection_health_noted` keeps since when, `connection_has_members` activates the workspace's subscriptions. A new session resets recruiter readiness unless the change itself publishes it (CONN-9).
 * Leaving `ready` drops the stored session, which the provider no longer accepts, and recruiter readiness with it. A run that
 * found the session good does not restore `ready` when the stream's refusal has dropped the session meanwhile. False, and nothing
 * is applied, when the revision or the session had moved on, or the proxy of a new pin is no longer to be used.
 */
export async function changeConnection(tx: Sql, change: ConnectionChange): Promise<boolean> {
  const rows = await tx.query<{ id: string }>(
    'changeConnection',
    `with pin as materialized (select id from regional_proxy where id = $11 and active for key share), given as (
       update reconnect_link set password_sealed = null where connection_id = $1 and $14::bytea is not null)
     update connection c set
       state_revision = $3,
       health = case when $4 = 'ready' and c.provider = 'social' and coalesce($5, c.session_sealed) is null then c.health
         else coalesce($4, c.health) end,
       health_reason = case when $4::text is null or $4 = c.health
           or $4 = 'ready' and c.provider = 'social' and coalesce($5, c.session_sealed) is null then c.health_reason else $13 end,
       session_sealed = case when $4 in ('needs_login', 'invalid') then null else coalesce($5, c.session_sealed) end,
       session_revision = case when $4 in ('needs_login', 'invalid') then null when $5::bytea is not null then $3 else c.session_revision end,
       actor_id = coalesce($6, c.actor_id),
       recruiter_health = coalesce($7, case when $3 <> $2 or $4 in ('needs_login', 'invalid') then 'not_verified'
         else c.recruiter_health end),
       recruiter_reason = case when $7::text is not null then $8 when $3 <> $2 then 'session_changed'
         when $4 in ('needs_login', 'invalid') and c.recruiter_health = 'ready' then 'session_ended' else c.recruiter_reason end,
       recruiter_contract = case when $7::text is not null then $9 else c.recruiter_contract end,
       recruiter_verified_at = case when $7 = 'ready' then now() else c.recruiter_verified_at end,
       recruiter_verified_revision = case when $7 = 'ready' then $3 else c.recruiter_verified_revision end,
       recruiter_operation_id = case when $7::text is not null then $10 else c.recruiter_operation_id end,
       proxy_id = coalesce($11, c.proxy_id), password_sealed = coalesce($14, c.password_sealed),
       credential_version = c.credential_version + case when $14::bytea is null then 0 else 1 end
     where c.id = $1 and c.state_revision = $2
       and ($11::uuid is null or exists (select 1 from pin))
       and ($12::bytea is null or c.session_sealed is null or c.session_sealed = $12)
     returning c.id`,
    [
      change.connectionId,
      change.expectedRevision,
      change.revision,
      change.health,
      change.sessionSealed,
      change.actorId,
      change.recruiter?.health ?? null,
      change.recruiter?.reason ?? null,
      change.recruiter?.contract ?? null,
      change.recruiter?.operationId ?? null,
      change.proxyId,
      change.ofSession,
      change.healthReason,
      change.passwordSealed,
    ],
  );
  return rows.length > 0;
}

/**
 * The site may change the recruiter contract of the session from now on: none is shown until a switch proves one (CONN-14). The
 * operation's row is locked, so a recovery comes before and is seen, or waits. False when the attempt is no longer held, or the revision
 * had moved on.
 */
export async function unverifyRecruiter(
  sql: Sql,
  attempt: { id: string; epoch: number; attemptId: string },
  connection: { id: string; state_revision: number },
): Promise<boolean> {
  const rows = await sql.query<{ id: string }>(
    'unverifyRecruiter',
    `with ${HELD_ATTEMPT}
     update connection c set recruiter_health = 'not_verified', recruiter_reason = 'switch_not_proven', recruiter_contract = null,
       recruiter_verified_at = null, recruiter_verified_revision = null, recruiter_operation_id = $1
     from held h where c.id = $4 and c.id = h.connection_id and c.state_revision = $5
     returning c.id`,
    [attempt.id, attempt.epoch, attempt.attemptId, connection.id, connection.state_revision],
  );
  return rows.length > 0;
}

/** What a connection becomes whose session the provider refuses, or whose account it has restricted (CONN-8). */
export type EndedHealth = Exclude<Health, 'ready'>;

/**
 * The provider refuses this stored session: `ready` → `health`, reported by the owner of the partition under
 * this epoch. Locks the partition's row FOR KEY SHARE, as every start does. False when the connection has moved on.
 */
export function endSession(
  db: Database,
  connectionId: string,
  { revision, session }: { revision: number; session: Buffer },
  epoch: number,
  health: EndedHealth,
): Promise<boolean> {
  return db.transaction(async (tx) => {
    const [held] = await tx.query(
      'holdListenedConnection',
      `select c.id from connection c join partition p on p.id = c.partition
       where c.id = $1 and c.health = 'ready' and p.epoch = $2 for key share of p`,
      [connectionId, epoch],
    );
    if (!held) return false;
    return changeConnection(tx, {
      connectionId,
      expectedRevision: revision,
      revision,
      health,
      healthReason: 'stream_refused',
      sessionSealed: null,
      ofSession: session,
      actorId: null,
      passwordSealed: null,
      proxyId: null,
      recruiter: null,
    });
  });
}

/**
 * Stores the session that `renew` makes of the stored one, under the same revision; undefined changes nothing. Held by the revision and
 * by the epoch of the partition's owner, whose row is locked FOR KEY SHARE, as every start does. False when the connection has moved on.
 */
export function renewSession(
  db: Database,
  { connectionId, revision, epoch }: { connectionId: string; revision: number; epoch: number },
  renew: (sealed: Buffer) => Buffer | undefined,
): Promise<boolean> {
  return db.transaction(async (tx) => {
    const [stored] = await tx.query<{ session_sealed: Buffer }>(
      'holdStoredSession',
      `select c.session_sealed from connection c join partition p on p.id = c.partition
       where c.id = $1 and c.state_revision = $2 and c.health = 'ready' and c.session_sealed is not null and p.epoch = $3
       for key share of p for no key update of c`,
      [connectionId, revision, epoch],
    );
    if (!stored) return false;
    const sealed = renew(stored.session_sealed);
    if (sealed) {
      await tx.query('renewSession', 'update connection set session_sealed = $2 where id = $1', [connectionId, sealed]);
    }
    return true;
  });
}
