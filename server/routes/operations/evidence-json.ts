import type { KeptLook } from '../../../actors/operations/attempt/look-run.js';
import { type EvidenceFault, UNKNOWN_PROGRESS, type WriteProgress } from '../../../storage/model/evidence.js';
import type { OperationRow } from '../../../storage/model/records.js';
import { lookOf } from '../../../storage/operations/looks.js';
import type { Sql } from '../../../storage/postgres/database.js';
import type { Count, Timestamp, Uuid } from '../../http/fields.js';

/** What is known of a write whose outcome is not, for the caller to decide by. The service sends nothing again. */
export interface EvidenceJson {
  /** When the service let the write go, durably: before that nothing left. Null where that is not known. */
  boundary_at: Timestamp | null;
  /** How far the write's request came. */
  request: RequestEvidenceJson;
  /** The answer to it, from its head on; null when none came. */
  answer: AnswerEvidenceJson | null;
  /**
   * What ended the attempt. `connection_lost`: the connection broke before the answer was there. `upstream_timeout`: no answer
   * came in time. `upstream_error`: the status of the answer proves nothing, as any 5xx. `parsing_error`: the answer is
   * unfamiliar. `browser_unavailable`: the browser was lost or stopped. `session_fenced`: the session was replaced or given up
   * meanwhile. `deadline_exceeded`: the running time was over. `worker_lost`: the thread or node that ran it was lost, and
   * another settled it. `internal_error`: the service failed. Null where nobody is left who could tell.
   */
  fault: EvidenceFault | null;
  /** Who let the write go. */
  worker: WorkerEvidenceJson;
  /** The last look that `reconcile` asked for; null when none has ended, once it was erased by its age, and in a list without results. */
  look: LookJson | null;
}

/** The one request of the write. */
export interface RequestEvidenceJson {
  /**
   * `yes`: all of it was given to the network, which does not prove that it arrived. `partly`: it began to leave. `unknown`:
   * nobody is left who could tell.
   */
  sent: WriteProgress['request']['sent'];
  /** When it began to leave, null where that is not known. */
  at: Timestamp | null;
}

/** The answer to the write's request. */
export interface AnswerEvidenceJson {
  /** Its HTTP status. */
  status: Count;
}

/** Who let the write go, as log lines name it. */
export interface WorkerEvidenceJson {
  /** Id of the node, null where that is not known. */
  node_id: Uuid | null;
  /** Name of the thread, null where that is not known. */
  thread: string | null;
  /** The attempt that it belongs to. */
  attempt_id: Uuid;
}

/**
 * What stood at the place where the write would show. Something else that was sent with the same words can match as well: its id
 * tells. A message matches by sender, body, content and time, an attachment by name and size too, an invitation by its recipient.
 */
export interface LookJson extends Omit<KeptLook, 'at'> {
  /** When the look began: what was written later is not in it. */
  at: Timestamp;
}

/** The evidence of an operation whose outcome is unknown (OPS-22), opened, with what its last attempt has of its boundary; null for any other. */
export function evidenceJson(sql: Sql, row: OperationRow): EvidenceJson | null {
  const attempt = row.attempts.at(-1);
  if (row.status !== 'outcome_unknown' || !attempt) return null;
  const { request, answer, fault } = row.evidence ?? { ...UNKNOWN_PROGRESS, fault: null };
  const { at = null, node_id = null, thread = null } = attempt.boundary ?? {};
  const worker = { node_id, thread, attempt_id: attempt.id };
  return { boundary_at: at, request, answer, fault, worker, look: lookOf(sql, row) as LookJson | null };
}
