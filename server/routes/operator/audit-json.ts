import type { AuditRow } from '../../../storage/audit/entries.js';
import type { AuditAction, AuditActorKind, AuditTargetKind } from '../../../storage/model/audit.js';
import type { Timestamp, Uuid } from '../../http/fields.js';
import { positionCursor } from '../paging.js';

/** What somebody did (HTTP-30). */
export interface AuditEntryJson {
  /** Id of the entry. */
  id: Uuid;
  /** When it was done. */
  at: Timestamp;
  /** The workspace that it concerns; null for what spans workspaces. */
  workspace_id: Uuid | null;
  /** Who did it. */
  actor: AuditActorJson;
  /** What was done: one of the actions that are listed with the audit log, such as `connection.create`. */
  action: AuditAction;
  /** What it was done to. */
  targets: AuditTargetJson[];
  /** The address that it was asked for from; null of the command line, and of operators for those who see one workspace. */
  address: string | null;
  /**
   * `X-Request-Id` of the request that asked for it, where that has 32 hexadecimal digits, with dashes or without; null of the
   * command line, and of submissions, whose operations have their own.
   */
  request_id: string | null;
  /**
   * What else is told of it, such as which limit was set; of what was read, `reads`: how often within the hour, so far. Null when nothing is. Never
   * a secret, nor a text of a user.
   */
  details: Record<string, unknown> | null;
  /** Where a follower of the log goes on behind this entry. */
  cursor: string;
}

/** Who did something. */
export interface AuditActorJson {
  /**
   * Who it was: `key`, a program with a key of a workspace; `operator`, one with an operator's key; `key_session` and `operator_session`,
   * somebody at the console who signed in with such a key; `command_line`, who has the command line; `link`, the owner of an account by a
   * reconnect link; `unknown`, somebody whose key was refused.
   */
  kind: AuditActorKind;
  /** Id of the key, the operator or the link; null of others. */
  id: Uuid | null;
  /**
   * What the key or the operator was called then, null when it had no name; of the command line the account and the machine. Null of operators
   * and the command line for those who see one workspace.
   */
  name: string | null;
}

/** What something was done to. */
export interface AuditTargetJson {
  /**
   * What it is: a `connection`, `operation`, `subscription`, `event`, `delivery`, `key`, `operator`, `workspace` or `proxy`.
   */
  kind: AuditTargetKind;
  /** Its id. */
  id: Uuid;
}

export function auditEntryJson(row: AuditRow): AuditEntryJson {
  return {
    id: row.id,
    at: row.at.toISOString(),
    workspace_id: row.workspace_id,
    actor: { kind: row.actor_kind, id: row.actor_id, name: row.actor_name },
    action: row.action,
    targets: row.target_ids.map((id, i) => ({ kind: row.target_kinds?.[i] ?? 'operation', id })),
    address: row.address,
    request_id: row.request_id,
    details: row.reads === null ? row.details : { ...row.details, reads: row.reads },
    cursor: positionCursor(row),
  };
}

const OPERATORS: ReadonlySet<AuditActorKind> = new Set(['operator', 'operator_session', 'command_line']);

/** As those see it who see one workspace: of operators they see that it was one, and not who, nor from where. */
export function workspaceEntryJson(row: AuditRow): AuditEntryJson {
  return auditEntryJson(OPERATORS.has(row.actor_kind) ? { ...row, actor_name: null, address: null } : row);
}
