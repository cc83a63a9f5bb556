import type { ConnectionChange } from '../../../storage/connections/session-effects.js';
import { failureDetails, OperationError, type OperationFailure } from '../../../storage/model/errors.js';
import { type EvidenceFault, type StoredEvidence, UNKNOWN_PROGRESS } from '../../../storage/model/evidence.js';
import { lostAttemptIsUnknown } from '../../../storage/model/write-boundary.js';
import { type FinishedOperation, WAITS_FOR_KEY } from '../../../storage/operations/execution.js';
import type { HeldOperation, StartedOperation } from '../../../storage/operations/starts.js';
import { isRefusedForNow, isUnreachable } from '../../../storage/postgres/liveness.js';
import { type KeyRing, KeyUnknown } from '../../../storage/secrets/encryption.js';
import { passwordContext, sessionContext } from '../../../storage/secrets/sealing.js';
import type { Capability } from '../../capabilities/capability.js';
import { LIMITS } from '../../limits.js';
import type { Attempt } from './attempt.js';
import { type Effects, type Failed, Interrupted, type Outcome } from './execution.js';
import type { Finish } from './operation-batches.js';

/**
 * `outcome_unknown` for an end without proof, by the one rule of the write boundary (OPS-4), with this evidence; undefined where the
 * rule does not apply: then the caller knows how the attempt ended.
 */
export function outcomeAfterBoundary(
  end: { pastBoundary: boolean; kind: Capability['kind'] },
  evidence: StoredEvidence,
): Extract<Outcome, { status: 'outcome_unknown' }> | undefined {
  const phase = end.pastBoundary ? 'dispatching' : 'reading';
  return lostAttemptIsUnknown({ kind: end.kind, phase }) ? { status: 'outcome_unknown', evidence } : undefined;
}

/** Whether the provider may have acted in this attempt: then it is never made again, whatever its row shows. */
export function isPastBoundary({ pastBoundary, capability }: Pick<Attempt, 'pastBoundary' | 'capability'>): boolean {
  return (
    outcomeAfterBoundary({ pastBoundary, kind: capability.kind }, { ...UNKNOWN_PROGRESS, fault: 'internal_error' }) !==
    undefined
  );
}

/** The same of an attempt whose provider threw: it tells nothing of the request. */
const inQuestion = ({ pastBoundary, capability }: Attempt, fault: EvidenceFault) =>
  outcomeAfterBoundary({ pastBoundary, kind: capability.kind }, { ...UNKNOWN_PROGRESS, fault });

/**
 * What a throw out of an execution means for its operation. `abandoned` stores nothing: the operation is another owner's now,
 * or goes back to the queue with its partition. `unexpected` is a bug to be logged.
 */
export function outcomeOfError(
  error: unknown,
  attempt: Attempt,
): Outcome | { status: 'abandoned' } | { status: 'unexpected'; outcome: Outcome } {
  if (error instanceof Interrupted) {
    const { reason } = error;
    switch (reason) {
      case 'fenced':
      case 'shutdown':
        return { status: 'abandoned' };
      case 'canceled':
        return inQuestion(attempt, 'internal_error') ?? { status: 'canceled' };
      case 'deadline':
        return inQuestion(attempt, 'deadline_exceeded') ?? failed({ code: 'deadline_exceeded' });
      default:
        return reason satisfies never;
    }
  }
  if (error instanceof OperationError) return failed({ code: error.code, details: error.details });
  const unproven = inQuestion(attempt, 'internal_error');
  const trouble = ownTrouble(error);
  if (trouble) return unproven ?? trouble;
  return { status: 'unexpected', outcome: unproven ?? failed({ code: 'internal_error' }) };
}

/** What the service itself lacks for the moment, its database or an encryption key, ends no operation: it is tried again. */
export function ownTrouble(error: unknown): Failed | undefined {
  if (error instanceof KeyUnknown) return own(KEY_UNKNOWN, LIMITS.key_wait_ms);
  return isUnreachable(error) || isRefusedForNow(error) ? own('database_unavailable', 0) : undefined;
}

const KEY_UNKNOWN = 'encryption_key_unknown';

const own = (reason: string, wait_ms: number): Failed => ({
  status: 'failed',
  failure: { code: 'internal_error', details: { reason } },
  transient: true,
  own: { wait_ms },
});

const failed = (failure: OperationFailure): Outcome => ({ status: 'failed', failure });

/** What takes the place of an outcome that the database refuses for the values it holds: evidence holds none of those. */
export function fallbackOutcome(attempt: Attempt, refused: Outcome): Outcome {
  if (refused.status === 'outcome_unknown') return { status: 'outcome_unknown', evidence: refused.evidence };
  const details = { reason: 'outcome_unstorable', retryable: false };
  return inQuestion(attempt, 'internal_error') ?? failed({ code: 'internal_error', details });
}

/**
 * What takes the place of an outcome whose effects no longer apply, because the session they are about is no longer the connection's
 * (CONN-10): a login or a switch has published nothing, so it did not succeed; anything else ends as it would, without them.
 */
export function outlivedOutcome(outcome: Outcome): Outcome {
  if (!('effects' in outcome)) return outcome;
  const { effects, ...rest } = outcome;
  if (rest.status === 'failed') return { ...rest, transient: true };
  if (rest.status === 'outcome_unknown') return rest;
  const publishes = effects?.session !== undefined || effects?.newSession || effects?.recruiter || effects?.proxyId;
  return publishes ? { status: 'failed', failure: { code: 'session_fenced' }, transient: true } : rest;
}

/**
 * Whether an operation that failed on browser, proxy or network trouble is tried again (OPS-4): a read, or a write of which
 * nothing has left; but not when it ended while it waited for its user, nor once a code was accepted for it: another attempt would
 * ask for another one.
 */
export function mayRetry(
  attempt: Pick<Attempt, 'status' | 'tookAnswer' | 'pastBoundary' | 'capability'>,
  outcome: Outcome,
  attempts: number,
): boolean {
  if (outcome.status !== 'failed' || !outcome.transient || attempt.status !== 'running' || attempt.tookAnswer)
    return false;
  const nothingLeft = attempt.capability.kind === 'read' || !attempt.pastBoundary || outcome.unsent === true;
  return nothingLeft && (outcome.own !== undefined || attempts < LIMITS.read_attempts);
}

/** What an end leaves empty, unless it says otherwise. */
const NOTHING = { result: null, errorCode: null, errorDetails: null, evidence: null } as const;

/** The row an outcome ends in. `revision` is the connection's state_revision after the outcome's own effects. */
function finishedOperation(
  held: HeldOperation,
  attempt: Attempt,
  outcome: Outcome,
  revision: number,
): FinishedOperation {
  const { status: from, running_ms } = attempt;
  const base = { ...held, from, running_ms, phase: null, ...NOTHING };
  switch (outcome.status) {
    case 'succeeded': {
      const result = { ...outcome.result, state_revision: revision };
      return { ...base, to: 'succeeded', reason: 'succeeded', attemptStatus: 'succeeded', phase: 'done', result };
    }
    case 'skipped': {
      const { reason } = outcome;
      return {
        ...base,
        to: 'skipped',
        reason,
        attemptStatus: 'succeeded',
        phase: 'done',
        result: { reason, state_revision: revision },
      };
    }
    case 'failed':
      return {
        ...base,
        to: 'failed',
        reason: outcome.failure.code,
        attemptStatus: 'failed',
        phase: phaseOfFailed(attempt, outcome),
        errorCode: outcome.failure.code,
        errorDetails: failureDetails(outcome.failure),
      };
    case 'canceled':
      return { ...base, to: 'canceled', reason: 'cancel_requested', attemptStatus: 'abandoned' };
    case 'outcome_unknown': {
      const { evidence } = outcome;
      const phase = evidence.answer ? 'confirming' : null;
      return { ...base, to: 'outcome_unknown', reason: 'no_proof', attemptStatus: 'outcome_unknown', phase, evidence };
    }
    default:
      return outcome satisfies never;
  }
}

/** A write of which nothing left is back before its boundary, with the statement that ends its attempt: it may be made again (OPS-4). */
function phaseOfFailed({ capability }: Attempt, { answered, unsent }: Failed): FinishedOperation['phase'] {
  if (answered) return 'confirming';
  return unsent && capability.kind === 'write' ? 'preparing' : null;
}

/** Everything that an attempt ends with; `retry` puts its operation back into the queue and changes nothing else. */
export function toFinish(
  held: HeldOperation,
  attempt: Attempt,
  outcome: Outcome,
  retry: boolean,
  ring: KeyRing,
): Finish {
  const effects: Effects = 'effects' in outcome ? (outcome.effects ?? {}) : {};
  const reason = outcome.status === 'failed' ? outcome.failure.code : 'login_succeeded';
  const change = retry ? null : connectionChange(attempt, effects, reason, ring);
  const revision = change?.revision ?? attempt.connection.state_revision;
  const ended = finishedOperation(held, attempt, outcome, revision);
  const waitsForKey = outcome.status === 'failed' && outcome.failure.details?.reason === KEY_UNKNOWN;
  const again = waitsForKey ? WAITS_FOR_KEY : `retry_${ended.reason}`;
  const operation = retry
    ? { ...ended, to: 'queued' as const, reason: again, errorCode: null, errorDetails: null }
    : ended;
  const { id: connectionId, workspace_id: workspaceId } = attempt.connection;
  const { simulatedInvitation } = effects;
  const { traceparent } = attempt;
  const events = (effects.events ?? []).map((event) => ({ ...event, traceparent }));
  return { operation, connectionId, workspaceId, change, events, simulatedInvitation };
}

/**
 * The end of an operation whose capability this version does not know, because a node of another version accepted it. It says so: left in its
 * row it would hold its connection, and everything behind it.
 */
export function unknownCapability(held: HeldOperation, started: StartedOperation): Finish {
  const failure: OperationFailure = {
    code: 'internal_error',
    details: { reason: 'capability_unknown', retryable: true },
  };
  const operation: FinishedOperation = {
    ...{ ...held, ...NOTHING, from: 'running', to: 'failed', reason: failure.code, attemptStatus: 'failed' },
    ...{ phase: null, running_ms: 0, errorCode: failure.code, errorDetails: failureDetails(failure) },
  };
  const { id: connectionId, workspace_id: workspaceId } = started;
  return { operation, connectionId, workspaceId, change: null, events: [], simulatedInvitation: undefined };
}

/** What the effects change on the connection's row; a new session or pin counts state_revision up (CONN-10). */
function connectionChange(
  attempt: Attempt,
  effects: Effects,
  healthReason: string,
  ring: KeyRing,
): ConnectionChange | null {
  const { connection } = attempt;
  const { session, health, actorId, recruiter, newSession, proxyId, provenPassword } = effects;
  if (session === undefined && !newSession && !health && !actorId && !recruiter && !proxyId) return null;
  const revision = connection.state_revision + (session !== undefined || newSession || proxyId ? 1 : 0);
  return {
    connectionId: connection.id,
    expectedRevision: connection.state_revision,
    revision,
    health: health ?? null,
    healthReason: health ? healthReason : null,
    sessionSealed: session === undefined ? null : ring.seal(session, sessionContext(connection.id)),
    ofSession: effects.ofSession ?? null,
    actorId: actorId ?? null,
    passwordSealed: provenPassword === undefined ? null : ring.seal(provenPassword, passwordContext(connection.id)),
    proxyId: proxyId ?? null,
    recruiter: recruiter ? { ...recruiter, operationId: attempt.operationId } : null,
  };
}
