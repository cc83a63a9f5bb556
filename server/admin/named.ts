import typia from 'typia';
import type { AuditTarget, AuditTargetKind } from '../../storage/model/audit.js';
import type { Uuid } from '../http/fields.js';

/** What a command line names by id, of which its entry in the audit log tells. A text (of a person, of a client) is none. */
export interface Named {
  targets: AuditTarget[];
  workspaceId: string | null;
  /** What is no target: a receipt, and what a list of the audit log was asked for. */
  details: Record<string, string>;
}

const TARGETS = {
  connection: true,
  operation: true,
  subscription: true,
  event: true,
  delivery: true,
  key: true,
  operator: true,
  workspace: true,
  proxy: true,
} satisfies Record<AuditTargetKind, true>;
const OTHERS = ['receipt', 'actor', 'target'];

/** `options` as the command has them, by their names. */
export function namedIn(options: Readonly<Record<string, unknown>>): Named {
  const ids = Object.entries(options).filter((option): option is [string, Uuid] => typia.is<Uuid>(option[1]));
  const isTarget = (one: [string, string]): one is [AuditTargetKind, string] => Object.hasOwn(TARGETS, one[0]);
  return {
    targets: ids.filter(isTarget),
    workspaceId: ids.find(([name]) => name === 'workspace')?.[1] ?? null,
    details: Object.fromEntries(ids.filter(([name]) => OTHERS.includes(name))),
  };
}
