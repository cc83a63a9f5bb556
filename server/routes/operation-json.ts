import type { Attempt, ChallengeKind, OperationRow, OperationStatus, Transition } from '../../storage/records.js';

/** Operation as it is answered (spec: "Operation"). */
export interface OperationJson {
  id: string;
  connection_id: string;
  capability: string;
  status: OperationStatus;
  result: Record<string, unknown> | null;
  error_code: string | null;
  error_details: Record<string, unknown> | null;
  /** Only while waiting for the user. */
  challenge: { id: string; kind: ChallengeKind; expires_at: string; accepts_code: boolean } | null;
  cancel_requested: boolean;
  created_at: string;
  updated_at: string;
  attempts: Attempt[];
  timeline: Transition[];
}

export function operationJson(row: OperationRow): OperationJson {
  const waiting = row.status === 'waiting_user' ? row.challenge : null;
  return {
    id: row.id,
    connection_id: row.connection_id,
    capability: row.capability,
    status: row.status,
    result: row.result,
    error_code: row.error_code,
    error_details: row.error_details,
    challenge: waiting && {
      id: waiting.id,
      kind: waiting.kind,
      expires_at: waiting.expires_at,
      accepts_code: waiting.accepts_code,
    },
    cancel_requested: row.cancel_requested,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    attempts: row.attempts.map(attemptJson),
    timeline: row.timeline.map(({ from, to, reason, at }) => ({ from, to, reason, at })),
  };
}

/** Names its fields one by one: what else the row may keep does not leave the service. */
function attemptJson(attempt: Attempt): Attempt {
  const { id, state_revision, number, status, phase, started_at, completed_at } = attempt;
  return { id, state_revision, number, status, phase, started_at, completed_at };
}
