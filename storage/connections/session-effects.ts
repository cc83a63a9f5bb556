import type { Health, RecruiterHealth } from '../model/records.js';
import type { Database, Sql } from '../postgres/database.js';

/** What an execution changes on its connection, in the transaction that ends the operation. */
export interface ConnectionChange {
  connectionId: string;
  /** The revision the execution ran under; on any other the change is not applied (CONN-10). */
  expectedRevision: number;
  revision: number;
  health: Health | null;
  sessionSealed: Buffer | null;
  actorId: string | null;
  recruiter: { health: RecruiterHealth; reason: string | null; contract: string | null; operationId: string } | null;
}

/**
 * Applies a change. A new session resets recruiter readiness unless the change itself publishes it (CONN-9).
 * Leaving `ready` drops the stored session, which the provider no longer accepts, and recruiter readiness with it. A run that
 * found the session good does not restore `ready` when the stream's refusal has dropped the session meanwhile. False when the
 * revision had moved on.
 */
export async function changeConnection(tx: Sql, change: ConnectionChange): Promise<boolean> {
  const rows = await tx.query<{ id: string }>(
    'changeConnection',
    `update connection c set
       state_revision = $3,
       health = case when $4 = 'ready' and c.provider = 'social' and coalesce($5, c.session_sealed) is null then c.health
         else coalesce($4, c.health) end,
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
       recruiter_operation_id = case when $7::text is not null then $10 else c.recruiter_operation_id end
     where c.id = $1 and c.state_revision = $2
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
    ],
  );
  return rows.length > 0;
}

/** What a connection becomes whose session the provider refuses, or whose account it has restricted (CONN-8). */
export type EndedHealth = Exclude<Health, 'ready'>;

/**
 * The provider refuses the session of this revision: `ready` → `health`, reported by the owner of the partition under
 * this epoch. Locks the partition's row FOR KEY SHARE, as every start does. False when the connection has moved on.
 */
export function endSession(
  db: Database,
  connectionId: string,
  revision: number,
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
      sessionSealed: null,
      actorId: null,
      recruiter: null,
    });
  });
}
