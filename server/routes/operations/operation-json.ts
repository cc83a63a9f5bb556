import typia from 'typia';
import type { CapabilityName } from '../../../actors/capabilities/catalogue.js';
import type { OperationErrorCode } from '../../../storage/model/error-codes.js';
import type { Attempt, OperationRow } from '../../../storage/model/records.js';
import type { Timestamp, Uuid } from '../../http/fields.js';
import { type OperationTimes, timesInOrder } from '../operation-times.js';
import type { EvidenceJson } from './evidence-json.js';
import type {
  AttemptJson,
  ChallengeJson,
  FailureDetailsJson,
  SkippedResultJson,
  TransitionJson,
} from './operation-parts.js';

/** What every operation has, whatever its status (contract: "Operation"). */
interface OperationBase {
  /** Id of the operation: `GET /v1/operations/{operation_id}` reads it. */
  id: Uuid;
  /** The connection that it runs on. */
  connection_id: Uuid;
  /** The capability that was submitted. */
  capability: CapabilityName;
  /** `true` once its end was requested; a running external action can still complete. */
  cancel_requested: boolean;
  /** When it was submitted. */
  created_at: Timestamp;
  /** When it last changed. */
  updated_at: Timestamp;
  /** Every try at it, the first one first; empty until its turn has come. */
  attempts: AttemptJson[];
  /** Every change of its status, the first one first; the last one led to `status`. */
  timeline: TransitionJson[];
}

/** The fields that tell of an end; each status fills in its own. */
interface NoEnd {
  /** Null: there is no result. */
  result: null;
  /** Null: it did not fail. */
  error_code: null;
  /** Null: it did not fail. */
  error_details: null;
  /** Null: nothing about its outcome is unknown. */
  evidence: null;
  /** Null: it does not wait for the user. */
  challenge: null;
}

/** An operation that waits for its turn: those of one connection run one after another. */
export interface QueuedOperationJson extends OperationBase, NoEnd {
  /** Always `queued`. */
  status: 'queued';
}

/** An operation that runs. */
export interface RunningOperationJson extends OperationBase, NoEnd {
  /** Always `running`. */
  status: 'running';
}

/** An operation that waits for its user, by a login or a recruiter switch. Its connection runs nothing else meanwhile. */
export interface WaitingOperationJson extends OperationBase, Omit<NoEnd, 'challenge'> {
  /** Always `waiting_user`. */
  status: 'waiting_user';
  /** What the provider asks the user for. */
  challenge: ChallengeJson;
}

/** An operation that did what it was to do. Its capability tells what its result holds. */
export interface SucceededOperationJson extends OperationBase, Omit<NoEnd, 'result'> {
  /** Always `succeeded`. */
  status: 'succeeded';
  /** The capability's result; null once it was erased by its age, and in a list without results. */
  result: Record<string, unknown> | null;
}

/** An operation that failed. A write that failed did nothing. */
export interface FailedOperationJson extends OperationBase, Omit<NoEnd, 'error_code' | 'error_details'> {
  /** Always `failed`. */
  status: 'failed';
  /** What went wrong. */
  error_code: OperationErrorCode;
  /** What is known of it beside the code. */
  error_details: FailureDetailsJson;
}

/** An operation that ended on request, or with its connection, before anything left. */
export interface CanceledOperationJson extends OperationBase, NoEnd {
  /** Always `canceled`. */
  status: 'canceled';
}

/** An operation that had nothing to do (OPS-7). */
export interface SkippedOperationJson extends OperationBase, Omit<NoEnd, 'result'> {
  /** Always `skipped`. */
  status: 'skipped';
  /** Why nothing was left to do. */
  result: SkippedResultJson;
}

/**
 * A write that may have happened and of which nobody can prove that it did: its answer was lost, or means nothing. It stays so, and
 * nothing is sent again. Look at the provider, or have `reconcile` look, before the same is sent under a new key.
 */
export interface UnknownOperationJson extends OperationBase, Omit<NoEnd, 'evidence'> {
  /** Always `outcome_unknown`. */
  status: 'outcome_unknown';
  /** What is known of the write. */
  evidence: EvidenceJson;
}

/** Operation as it is answered: `status` tells which of these it is. */
export type OperationJson =
  | QueuedOperationJson
  | RunningOperationJson
  | WaitingOperationJson
  | SucceededOperationJson
  | FailedOperationJson
  | CanceledOperationJson
  | SkippedOperationJson
  | UnknownOperationJson;

export const operationSchema = typia.json.schemas<[OperationJson]>();
export const queuedOperationSchema = typia.json.schemas<[QueuedOperationJson]>();
export const unknownOperationSchema = typia.json.schemas<[UnknownOperationJson]>();

/** Every field but the result, as any status may have it. */
type Shown = { [Field in Exclude<keyof OperationJson, 'result'>]: OperationJson[Field] };

/**
 * The text of an `OperationJson`. `result` and `evidence`: the operation's, opened; the result as the text that it was stored as, which
 * is not parsed to be written again. Storage takes any text for its codes; what is written there are these. Which fields are there
 * follows from the status: constraints of the table hold it.
 */
export function operationText(row: OperationRow, result: string | null, evidence: EvidenceJson | null): string {
  const waiting = row.status === 'waiting_user' ? row.challenge : null;
  const times = timesInOrder(row);
  const shown: Shown = {
    id: row.id,
    connection_id: row.connection_id,
    capability: row.capability as CapabilityName,
    status: row.status,
    error_code: row.error_code as OperationErrorCode | null,
    error_details: row.error_details as FailureDetailsJson | null,
    evidence,
    challenge: waiting && {
      id: waiting.id,
      kind: waiting.kind,
      expires_at: waiting.expires_at,
      accepts_code: waiting.accepts_code,
    },
    cancel_requested: row.cancel_requested,
    created_at: times.created_at,
    updated_at: times.updated_at,
    attempts: row.attempts.map((attempt, i) => attemptJson(attempt, times.attempts[i]!)),
    timeline: row.timeline.map(({ from, to, reason }, i) => ({ from, to, reason, at: times.timeline[i]!.at })),
  };
  return `${JSON.stringify(shown).slice(0, -1)},"result":${result}}`;
}

/** Names its fields one by one: what else the row may keep does not leave the service. */
function attemptJson(attempt: Attempt, { started_at, completed_at }: OperationTimes['attempts'][number]): AttemptJson {
  const { id, state_revision, number, status, phase, boundary } = attempt;
  // It keeps the boundary that it came to, and is before it again: nothing left (OPS-4).
  const boundary_at = phase === 'preparing' ? null : (boundary?.at ?? null);
  return { id, state_revision, number, status, phase, started_at, completed_at, boundary_at };
}
