import { recordAudit } from '../../storage/audit/record.js';
import type { AuditAction, AuditSender, AuditTarget, NewAuditEntry } from '../../storage/model/audit.js';
import type { Transaction } from '../../storage/postgres/database.js';
import type { UsableKey } from '../../storage/workspaces/keys.js';
import type { Sender } from './callers.js';

/** What an entry tells beside who asked for what. */
interface EntryParts {
  details?: NewAuditEntry['details'];
  /** Of a request that is in no workspace, the one that it is about. */
  workspaceId?: string;
  /** Somebody who has no key. */
  actor?: Omit<AuditSender, 'address'>;
}

/** The audit log as the handler of one request writes to it (HTTP-30). */
export interface Audit {
  /** Who asked, and where from. */
  sender: AuditSender;
  /** Adds the entry of the route's action, in the transaction that does what it tells. */
  record(tx: Transaction, targets: readonly AuditTarget[], parts?: EntryParts): Promise<void>;
}

/** Who sends a request with this key: a program, or somebody at the console, whose session stands for the key. */
export function auditSender({ kind, id, name }: UsableKey, { headers, address }: Sender): AuditSender {
  const session = headers.authorization === '';
  return { kind: session ? `${kind}_session` : kind, id, name, address: address() };
}

export function auditOf(
  action: AuditAction | 'none' | undefined,
  { key, sender, requestId }: { key: UsableKey; sender: Sender; requestId: string },
): Audit {
  // An operator's requests that name no workspace are in none.
  const workspace = key.workspace_id === '' || key.workspace_id === key.id ? null : key.workspace_id;
  return {
    get sender() {
      return auditSender(key, sender);
    },
    record(tx, targets, { details, workspaceId, actor } = {}) {
      if (action === undefined || action === 'none') throw new Error('the route names no action of the audit log');
      return recordAudit(tx, {
        actor: actor ? { ...actor, address: sender.address() } : auditSender(key, sender),
        ...{ action, targets, requestId, details, workspaceId: workspaceId ?? workspace },
      });
    },
  };
}
