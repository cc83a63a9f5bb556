import { capabilityNamed } from '../../../../actors/capabilities/catalogue.js';
import type { OperationRecord } from '../evidence.js';
import { type Case, hasEnded, named } from './case.js';

const isWrite = (operation: OperationRecord) => capabilityNamed(operation.capability)?.kind === 'write';

/** The end as causes are looked up by it: the code of a failure, else the status. */
const endName = ({ status, error_code }: OperationRecord) => (status === 'failed' ? (error_code ?? 'none') : status);

/** `outcome_unknown` is for writes alone: a read can be made again. */
export function* unknownIsOfWrites({ evidence }: Case): Iterable<string> {
  for (const operation of evidence.rows.operations) {
    if (operation.status === 'outcome_unknown' && !isWrite(operation)) yield `${named(operation)} is outcome_unknown`;
  }
}

/** `internal_error` is a bug, whatever else failed at the time. */
export function* neverInternalError({ evidence }: Case): Iterable<string> {
  for (const operation of evidence.rows.operations) {
    if (operation.error_code === 'internal_error') yield `${named(operation)} failed with internal_error`;
  }
}

/** An operation ends as `failed` or `outcome_unknown` only where its submission asked for that, or a fault explains it. */
export function* everyFailureHasACause(run: Case): Iterable<string> {
  for (const operation of run.evidence.rows.operations) {
    const { status } = operation;
    if (status !== 'failed' && status !== 'outcome_unknown') continue;
    const end = endName(operation);
    if (end === 'internal_error') continue; // `neverInternalError`
    if (run.submissionOf(operation)?.expected?.includes(end)) continue;
    if (run.faults.explain(end, operation.connection_id, run.lifeOf(operation))) continue;
    yield `${named(operation)} ended as ${end}, which no fault of its time explains`;
  }
}

/** A submission whose own words ask for another end does not succeed. */
export function* endsAsAsked(run: Case): Iterable<string> {
  for (const operation of run.evidence.rows.operations) {
    const expected = run.submissionOf(operation)?.expected;
    if (!expected || operation.status !== 'succeeded' || expected.includes('succeeded')) continue;
    yield `${named(operation)} succeeded, and should have ended as ${expected.join(' or ')}`;
  }
}

/** A row says of its end what belongs to it: a code for a failure alone, evidence for an unknown outcome alone, no attempt that still runs. */
export function* endIsWhole({ evidence }: Case): Iterable<string> {
  for (const operation of evidence.rows.operations) {
    const { status, error_code, evidence_fault, attempts } = operation;
    if ((status === 'failed') !== (error_code !== null))
      yield `${named(operation)} is ${status} with code ${error_code}`;
    if ((status === 'outcome_unknown') !== (evidence_fault !== null))
      yield `${named(operation)} is ${status} with evidence of ${evidence_fault}`;
    const open = hasEnded(operation) ? attempts.find((attempt) => attempt.status === 'running') : undefined;
    if (open) yield `${named(operation)} has ended, and its attempt ${open.number} still runs`;
  }
}
