import type { AttemptPhase, OperationStatus } from '../../../../storage/model/records.js';
import { isTerminal, OPERATION_STEPS } from '../../../../storage/model/transitions.js';
import { isPastBoundary } from '../../../../storage/model/write-boundary.js';
import type { OperationRecord } from '../evidence.js';
import { type Case, named } from './case.js';

/** The timeline is one walk over allowed steps, from the submission to the status of the row, and ends at the first end. */
export function* timelineIsOneWalk({ evidence }: Case): Iterable<string> {
  for (const operation of evidence.rows.operations) {
    const fault = faultOfTimeline(operation);
    if (fault) yield `${named(operation)}: ${fault}`;
  }
}

function faultOfTimeline({ timeline, status }: OperationRecord): string | undefined {
  let at: string | null = null;
  for (const { from, to, reason } of timeline) {
    if (from !== at) return `its timeline goes on from ${from} (${reason}), and it was ${at}`;
    if (from !== null && !isStep(from, to)) return `its timeline goes from ${from} to ${to} (${reason})`;
    at = to;
  }
  return at === status ? undefined : `its timeline ends at ${at}, and it is ${status}`;
}

function isStep(from: string, to: string): boolean {
  if (isTerminal(from as OperationStatus)) return false;
  try {
    OPERATION_STEPS.check(from as OperationStatus, to as OperationStatus);
    return true;
  } catch {
    return false;
  }
}

/** The attempts are numbered from 1, and a later one begins only when the one before it is over and did not succeed. */
export function* attemptsFollowEachOther({ evidence }: Case): Iterable<string> {
  for (const operation of evidence.rows.operations) {
    for (const [index, attempt] of operation.attempts.entries()) {
      if (attempt.number !== index + 1) yield `${named(operation)} has attempt ${attempt.number} in place ${index + 1}`;
      const last = index === operation.attempts.length - 1;
      if (last || attempt.status === 'abandoned' || attempt.status === 'failed') continue;
      yield `${named(operation)} was tried again after attempt ${attempt.number}, which is ${attempt.status}`;
    }
  }
}

/** What may have left is never tried again. This sees what no ledger shows: the writes of simulated connections. */
export function* noAttemptAfterTheBoundary({ evidence }: Case): Iterable<string> {
  for (const operation of evidence.rows.operations) {
    const left = operation.attempts.slice(0, -1).find(({ phase }) => isPastBoundary(phase as AttemptPhase));
    if (left) yield `${named(operation)} was tried again after attempt ${left.number}, which was ${left.phase}`;
  }
}

/** What a simulated operation makes happen is named after it. */
const MADE_BY = /^sim-([0-9a-f-]{36})-(\w+)$/;

/** The events of a simulated operation are stored with its success: they are there if it succeeded, and only then. */
export function* effectsAreOfSuccesses(run: Case): Iterable<string> {
  const sent = new Set<string>();
  for (const { id, provider_event_id } of run.evidence.rows.events) {
    const [, maker, effect] = MADE_BY.exec(provider_event_id ?? '') ?? [];
    if (maker === undefined) continue;
    const operation = run.operations.get(maker);
    if (effect === 'sent') sent.add(maker);
    if (!operation) yield `event ${id} is of operation ${maker}, which is not there`;
    else if (operation.status !== 'succeeded')
      yield `event ${id} is of ${named(operation)}, which is ${operation.status}`;
  }
  for (const operation of run.evidence.rows.operations) {
    const simulated = sent.size > 0 && run.submissionOf(operation)?.marker === null;
    if (!simulated || operation.capability !== 'social.message.send' || operation.status !== 'succeeded') continue;
    if (!sent.has(operation.id)) yield `${named(operation)} succeeded, and its message_sent is not there`;
  }
}
