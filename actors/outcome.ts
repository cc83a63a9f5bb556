import { failureDetails, OperationError, type OperationFailure } from '../storage/errors.js';
import type { FinishedOperation, HeldOperation } from '../storage/execution.js';
import type { Attempt } from './attempt.js';
import type { Capability } from './capabilities/capability.js';
import { Interrupted, type Outcome } from './execution.js';

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

/** The row an outcome ends in. `revision` is the connection's state_revision after the outcome's own effects. */
export function finishedOperation(
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
