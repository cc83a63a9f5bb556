import type { OperationStatus } from '../../../../storage/model/records.js';
import { isTerminal } from '../../../../storage/model/transitions.js';
import { type Case, endOf, named } from './case.js';
import { LIMITS } from './limits.js';

const FRESH = 202;
const REPLAYED = 200;
const CONFLICT = 409;

/** An operation that a client was told of is in the database. */
export function* acceptedHasRow({ evidence, operations }: Case): Iterable<string> {
  for (const { key, answers } of evidence.submissions) {
    const told = new Set(answers.flatMap((answer) => answer.operation_id ?? []));
    for (const id of told) {
      if (!operations.has(id)) yield `operation ${id} of key ${key} was accepted, and there is no row of it`;
    }
  }
}

/**
 * Every operation, whether its client was told of it or not, ends within 30 s of the last fault, or of its acceptance where that
 * came later; the nodes' limits may allow for more, and the time until a backlog was worked off.
 */
export function* everyOperationEnds(run: Case): Iterable<string> {
  const { calm_at, patience_ms = 0, worked_off_ms = 0 } = run.evidence.run;
  const allowed_ms = Math.max(LIMITS.end_after_calm_ms + patience_ms, worked_off_ms);
  for (const operation of run.evidence.rows.operations) {
    const submission = run.submissionOf(operation);
    const accepted = submission?.accepted_at ?? submission?.sent_at ?? 0;
    const due = Math.max(calm_at, accepted) + allowed_ms;
    const end = endOf(operation);
    if (end !== undefined) {
      if (end > due) yield `${named(operation)} ended ${end - due} ms too late`;
      continue;
    }
    const mayWait = submission?.expected?.includes(operation.status) || (accepted > calm_at && run.readAt < due);
    if (!mayWait)
      yield `${named(operation)} is still ${operation.status}, ${run.readAt - calm_at} ms after the last fault`;
  }
}

/** A key has one operation: one row, one id in all its answers, one 202, and never a conflict with itself. */
export function* oneOperationAKey({ evidence, operationsByKey }: Case): Iterable<string> {
  for (const [key, rows] of operationsByKey) {
    if (rows.length > 1) yield `key ${key} has ${rows.length} operations: ${rows.map(({ id }) => id).join(', ')}`;
  }
  for (const { key, operation_id, answers } of evidence.submissions) {
    const ids = new Set(answers.flatMap((answer) => answer.operation_id ?? []));
    if (operation_id !== null) ids.add(operation_id);
    const [row] = operationsByKey.get(key) ?? [];
    if (row && ids.size > 0) ids.add(row.id);
    if (ids.size > 1) yield `key ${key} stands for different operations: ${[...ids].join(', ')}`;
    const fresh = answers.filter(({ status, replayed }) => status === FRESH || (status === REPLAYED && !replayed));
    if (fresh.length > 1) yield `key ${key} was accepted as new ${fresh.length} times`;
    if (answers.some(({ status }) => status === CONFLICT)) yield `key ${key} was refused: it conflicts with itself`;
  }
}

/** Nothing runs that nobody asked for. What ended before the run began belongs to its preparation. */
export function* everyOperationWasAskedFor(run: Case): Iterable<string> {
  const { rows, run: record } = run.evidence;
  for (const operation of rows.operations) {
    if (run.submissionOf(operation) || (endOf(operation) ?? run.readAt) < record.started_at) continue;
    yield `${named(operation)} was submitted by nobody`;
  }
}

/** An operation is what its submission asked for, on the connection that it named. */
export function* operationIsAsSubmitted(run: Case): Iterable<string> {
  for (const operation of run.evidence.rows.operations) {
    const submission = run.submissionOf(operation);
    if (!submission) continue;
    const { capability, connection_id } = submission;
    if (operation.capability !== capability) yield `${named(operation)} was submitted as ${capability}`;
    if (operation.connection_id !== connection_id) yield `${named(operation)} was submitted for ${connection_id}`;
  }
}

/** A cancel that was answered stands: it is in the row, or the operation had ended, and no attempt begins after it. */
export function* cancelStands(run: Case): Iterable<string> {
  for (const { operation_id, at, status } of run.evidence.cancels) {
    const operation = run.operations.get(operation_id);
    if (!operation || status !== 200) continue;
    const seen = at + LIMITS.cancel_ms;
    if (!operation.cancel_requested && (endOf(operation) ?? Number.POSITIVE_INFINITY) > seen) {
      yield `${named(operation)} does not know of the cancel that was answered at ${at}`;
    }
    if (run.faults.clockWasWrong(run.lifeOf(operation))) continue;
    const begun = operation.attempts.find(({ started_at }) => started_at > seen);
    if (begun) yield `${named(operation)} began attempt ${begun.number} ${begun.started_at - at} ms after its cancel`;
  }
}

/** An end that a client was shown is the operation's end: nothing that was answered is taken back. */
export function* shownEndsStand({ evidence, operations }: Case): Iterable<string> {
  for (const { operation_id, at, status } of evidence.seen ?? []) {
    const operation = operations.get(operation_id);
    if (!isTerminal(status as OperationStatus) || operation?.status === status) continue;
    const now = operation ? operation.status : 'gone';
    yield `operation ${operation_id} was shown as ${status} at ${at}, and is ${now}`;
  }
}
