import type { ConnectionChange } from '../../storage/connections/session-effects.js';
import { failureDetails, OperationError, type OperationFailure } from '../../storage/model/errors.js';
import type { FinishedOperation, HeldOperation } from '../../storage/operations/execution.js';
import type { KeyRing } from '../../storage/secrets/encryption.js';
import { sessionContext } from '../../storage/secrets/sealing.js';
import type { Capability } from '../capabilities/capability.js';
import type { Attempt } from './attempt.js';
import { type Effects, Interrupted, type Outcome } from './execution.js';
import type { Finish } from './operation-batches.js';

/** What a throw out of an execution means for its operation; `fenced` and `shutdown` store nothing. */
export function outcomeOfError(
  error: unknown,
  attempt: Attempt,
  capability: Capability,
): Outcome | { status: 'abandoned' } | { status: 'unexpected'; outcome: Outcome } {
  const past = attempt.pastBoundary && capability.kind === 'write';
  if (error instanceof Interrupted) {
    switch (error.reason) {
      case 'fenced':
      case 'shutdown':
        return { status: 'abandoned' };
      case 'canceled':
        return past ? { status: 'outcome_unknown' } : { status: 'canceled' };
      case 'deadline':
        return past ? { status: 'outcome_unknown' } : failed({ code: 'deadline_exceeded' });
    }
  }
  if (error instanceof OperationError) return failed({ code: error.code, details: error.details });
  return { status: 'unexpected', outcome: past ? { status: 'outcome_unknown' } : failed({ code: 'internal_error' }) };
}

const failed = (failure: OperationFailure): Outcome => ({ status: 'failed', failure });

/** What takes the place of an outcome that cannot be stored for what it holds; a write that was made stays in question. */
export function fallbackOutcome(attempt: Attempt, capability: Capability): Outcome {
  if (attempt.pastBoundary && capability.kind === 'write') return { status: 'outcome_unknown' };
  return failed({ code: 'internal_error', details: { reason: 'outcome_unstorable', retryable: false } });
}

/** The row an outcome ends in. `revision` is the connection's state_revision after the outcome's own effects. */
function finishedOperation(
  held: HeldOperation,
  from: 'running' | 'waiting_user',
  outcome: Outcome,
  revision: number,
): FinishedOperation {
  const base = { ...held, from, result: null, errorCode: null, errorDetails: null };
  switch (outcome.status) {
    case 'succeeded':
      return {
        ...base,
        to: 'succeeded',
        reason: 'succeeded',
        attemptStatus: 'succeeded',
        result: { ...outcome.result, state_revision: revision },
      };
    case 'skipped':
      return {
        ...base,
        to: 'skipped',
        reason: outcome.reason,
        attemptStatus: 'succeeded',
        result: { reason: outcome.reason, state_revision: revision },
      };
    case 'failed':
      return {
        ...base,
        to: 'failed',
        reason: outcome.failure.code,
        attemptStatus: 'failed',
        errorCode: outcome.failure.code,
        errorDetails: failureDetails(outcome.failure),
      };
    case 'canceled':
      return { ...base, to: 'canceled', reason: 'cancel_requested', attemptStatus: 'abandoned' };
    case 'outcome_unknown':
      return { ...base, to: 'outcome_unknown', reason: 'no_proof', attemptStatus: 'outcome_unknown' };
  }
}

/** Everything an attempt ends with; `retry` puts its operation back into the queue and changes nothing else. */
export function endOf(held: HeldOperation, attempt: Attempt, outcome: Outcome, retry: boolean, ring: KeyRing): Finish {
  const effects: Effects = 'effects' in outcome ? (outcome.effects ?? {}) : {};
  const change = retry ? null : connectionChange(attempt, effects, ring);
  const revision = change?.revision ?? attempt.connection.state_revision;
  const ended = finishedOperation(held, attempt.status, outcome, revision);
  const operation = retry
    ? { ...ended, to: 'queued' as const, reason: `retry_${ended.reason}`, errorCode: null, errorDetails: null }
    : ended;
  const { id: connectionId, workspace_id: workspaceId } = attempt.connection;
  const { events = [], simulatedInvitation } = effects;
  return { operation, connectionId, workspaceId, change, events, simulatedInvitation };
}

/** What the effects change on the connection's row; a new session counts state_revision up (CONN-10). */
function connectionChange(attempt: Attempt, effects: Effects, ring: KeyRing): ConnectionChange | null {
  const { connection } = attempt;
  const { session, health, actorId, recruiter, newSession } = effects;
  if (session === undefined && !newSession && !health && !actorId && !recruiter) return null;
  const revision = connection.state_revision + (session !== undefined || newSession ? 1 : 0);
  return {
    connectionId: connection.id,
    expectedRevision: connection.state_revision,
    revision,
    health: health ?? null,
    sessionSealed: session === undefined ? null : ring.seal(session, sessionContext(connection.id)),
    actorId: actorId ?? null,
    recruiter: recruiter ? { ...recruiter, operationId: attempt.operationId } : null,
  };
}
