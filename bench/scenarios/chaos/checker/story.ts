import type { Evidence, OperationRecord } from '../evidence.js';
import { Case, named } from './case.js';
import { LIMITS } from './limits.js';
import type { Violation } from './violation.js';

/**
 * What is known of one operation, a line each, in milliseconds since the run began: how it was submitted and answered, its attempts and its
 * timeline in their nodes' time, its writes, and the faults of its life.
 */
export function storyOf(evidence: Evidence, operationId: string): string[] {
  const run = new Case(evidence);
  const operation = run.operations.get(operationId);
  if (!operation) return [`operation ${operationId} has no row`];
  const { started_at, faults } = evidence.run;
  const at = (time: number | null | undefined) => (typeof time === 'number' ? `${time - started_at}` : 'never');
  const submission = run.submissionOf(operation);
  const life = run.lifeOf(operation);
  const met = faults.filter(({ from, to }) => from <= life.to && to >= life.from);
  return [
    `${named(operation)} is ${[operation.status, operation.error_code, operation.evidence_fault].filter(Boolean).join(' ')}, stored last at ${at(operation.updated_at)}`,
    `submitted at ${at(submission?.sent_at)}, accepted at ${at(submission?.accepted_at)}`,
    ...(submission?.answers ?? []).map(
      (one) => `answered at ${at(one.at)} by node ${one.node}: ${one.status}${one.replayed ? ', replayed' : ''}`,
    ),
    ...evidence.cancels
      .filter((one) => one.operation_id === operationId)
      .map((one) => `cancel answered at ${at(one.at)}: ${one.status}`),
    ...operation.attempts.map(
      (one) =>
        `attempt ${one.number} from ${at(one.started_at)} to ${at(one.completed_at)}: ${one.status}, ${one.phase}`,
    ),
    ...operation.timeline.map((one) => `${one.to} at ${at(one.at)}: ${one.reason}`),
    ...run.writesOf(operation).map((one) => `written at ${at(one.at)} by ${one.account}`),
    ...met.map((one) => `fault from ${at(one.from)} to ${at(one.to)}: ${one.kind} of ${one.target}`),
    ...heldBy(evidence, operation),
  ];
}

const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

/** What is known of the first operations that these violations name: where a run's folder is lost, its output tells what happened. */
export function storiesOf(evidence: Evidence, violations: readonly Violation[]): string[] {
  if (violations.length === 0) return [];
  const known = new Set(evidence.rows.operations.map(({ id }) => id));
  const told = new Set(violations.flatMap(({ what }) => what.match(UUID) ?? []).filter((id) => known.has(id)));
  return [...told].slice(0, LIMITS.told_operations).map((id) => storyOf(evidence, id).join('\n  '));
}

function heldBy({ rows }: Evidence, { connection_id }: OperationRecord): string[] {
  const mailboxes = rows.jobs.filter((job) => job.id === connection_id);
  return mailboxes.map(({ queue, state, from }) => `its mailbox is ${state} in ${queue}, from ${from} on`);
}
