import type { NewAuditEntry } from '../model/audit.js';
import { newId } from '../model/new-id.js';
import type { Transaction } from '../postgres/database.js';

/** A UUID or 32 hexadecimal digits: what the service makes, and of a client's what says nothing. */
const REQUEST_ID = /^[0-9a-f]{8}(-?)[0-9a-f]{4}\1[0-9a-f]{4}\1[0-9a-f]{4}\1[0-9a-f]{12}$/i;

/**
 * Adds an entry to the audit log in the transaction that does what it tells (HTTP-30): the two commit together or not at all. That it is a
 * transaction is asked of the caller by type.
 */
export async function recordAudit(tx: Transaction, entry: NewAuditEntry, id: string = newId()): Promise<void> {
  const { actor, action, workspaceId, targets, requestId, details } = entry;
  await tx.query(
    'recordAudit',
    `insert into audit.entry (id, workspace_id, actor_kind, actor_id, actor_name, action, target_kinds, target_ids, request_id, address, details)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
    [
      id,
      workspaceId,
      actor.kind,
      actor.id,
      actor.name,
      action,
      targets.map(([kind]) => kind),
      targets.map(([, id]) => id),
      requestId !== null && REQUEST_ID.test(requestId) ? requestId : null,
      actor.address,
      details ? JSON.stringify(details) : null,
    ],
  );
}
