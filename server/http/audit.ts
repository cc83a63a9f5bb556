import { recordAudit } from '../../storage/audit/record.js';
import { LIMITS as STORAGE_LIMITS } from '../../storage/limits.js';
import type { AuditAction, AuditSender, AuditTarget, NewAuditEntry } from '../../storage/model/audit.js';
import type { Database, Transaction } from '../../storage/postgres/database.js';
import type { UsableKey } from '../../storage/workspaces/keys.js';
import { limitOf, type WorkspaceLimits } from '../../storage/workspaces/limits.js';
import type { WorkspaceStored } from './admission/workspace-stored.js';
import type { Sender } from './identity/callers.js';
import type { Reveals } from './reveals.js';

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
  /** Resolves when it is in the log that these are shown, an entry an hour; at once where the route is `revealed` to operators alone, and it is none. */
  reveal(targets: readonly AuditTarget[]): Promise<void>;
}

/** A request, as its entries tell of it. */
interface AuditedRequest {
  key: UsableKey;
  sender: Sender;
  requestId: string;
  db: Database;
  reveals: Pick<Reveals, 'note'>;
  /** Of every workspace that has none of its own. */
  limits: WorkspaceLimits;
  workspaceStored: Pick<WorkspaceStored, 'accepted'>;
}

/** Who sends a request with this key: a program, or somebody at the console, whose session stands for the key. */
export function auditSender({ kind, id, name }: UsableKey, { headers, address }: Sender): AuditSender {
  const session = headers.authorization === '';
  return { kind: session ? `${kind}_session` : kind, id, name, address: address() };
}

const NOTHING = Promise.resolve();

export function auditOf(
  { audit: action, revealed }: { audit?: AuditAction | 'none'; revealed?: AuditAction },
  { key, sender, requestId, db, reveals, limits, workspaceStored }: AuditedRequest,
): Audit {
  // An operator's requests that name no workspace are in none.
  const workspace = key.workspace_id === '' || key.workspace_id === key.id ? null : key.workspace_id;
  // What is left to be measured grows by it, also of a workspace that submits nothing (HTTP-27).
  const count = () => {
    if (workspace === null || limitOf('stored_mib', key.limits, limits) === null) return;
    workspaceStored.accepted(workspace, STORAGE_LIMITS.audit_entry_bytes);
  };
  const reveal = async (action: AuditAction, targets: readonly AuditTarget[]) => {
    if (targets.length === 0) return;
    const actor = auditSender(key, sender);
    if (await reveals.note(db, { actor, action, targets, workspaceId: workspace, requestId })) count();
  };
  return {
    get sender() {
      return auditSender(key, sender);
    },
    reveal(targets) {
      if (action !== undefined && action !== 'none') return reveal(action, targets);
      return revealed !== undefined && key.kind === 'operator' ? reveal(revealed, targets) : NOTHING;
    },
    async record(tx, targets, { details, workspaceId, actor } = {}) {
      if (action === undefined || action === 'none') throw new Error('the route names no action of the audit log');
      await recordAudit(tx, {
        actor: actor ? { ...actor, address: sender.address() } : auditSender(key, sender),
        ...{ action, targets, requestId, details, workspaceId: workspaceId ?? workspace },
      });
      count();
    },
  };
}
