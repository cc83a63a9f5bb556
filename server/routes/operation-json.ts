import typia from 'typia';
import type { OperationErrorCode } from '../../storage/model/errors.js';
import type { Attempt, ChallengeKind, OperationRow, OperationStatus, Transition } from '../../storage/model/records.js';
import type { Count, Timestamp, Uuid } from '../http/fields.js';

/** Operation as it is answered (contract: "Operation"). */
export interface OperationJson {
  id: Uuid;
  connection_id: Uuid;
  capability: string;
  status: OperationStatus;
  result: Record<string, unknown> | null;
  /** Safe classification of a failure. */
  error_code: OperationErrorCode | null;
  /** Safe detail of a failure; `retryable` is always there. */
  error_details: Record<string, unknown> | null;
  /** Only while waiting for the user. */
  challenge: ChallengeJson | null;
  /** A running external action can still complete. */
  cancel_requested: boolean;
  created_at: Timestamp;
  updated_at: Timestamp;
  attempts: AttemptJson[];
  timeline: TransitionJson[];
}

/** What an operation waits for: the user's code, or, without `accepts_code`, something only the user can do elsewhere. */
export interface ChallengeJson {
  id: Uuid;
  kind: ChallengeKind;
  expires_at: Timestamp;
  accepts_code: boolean;
}

/** One try at an operation. */
export interface AttemptJson extends Omit<Attempt, 'id' | 'state_revision' | 'number' | 'started_at' | 'completed_at'> {
  id: Uuid;
  state_revision: Count;
  number: Count;
  started_at: Timestamp;
  completed_at: Timestamp | null;
}

/** A change of an operation's status. */
export interface TransitionJson extends Omit<Transition, 'at'> {
  at: Timestamp;
}

export const operationSchema = typia.json.schemas<[OperationJson]>();

export function operationJson(row: OperationRow): OperationJson {
  const waiting = row.status === 'waiting_user' ? row.challenge : null;
  return {
    id: row.id,
    connection_id: row.connection_id,
    capability: row.capability,
    status: row.status,
    result: row.result,
    // Storage takes any text; what is written there are these codes.
    error_code: row.error_code as OperationErrorCode | null,
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
function attemptJson(attempt: Attempt): AttemptJson {
  const { id, state_revision, number, status, phase, started_at, completed_at } = attempt;
  return { id, state_revision, number, status, phase, started_at, completed_at };
}
