import type { OperationStatus } from '../../../../storage/model/records.js';
import { isTerminal } from '../../../../storage/model/transitions.js';
import type { Evidence, OperationRecord, SubmissionRecord } from '../evidence.js';
import { Faults, type Span } from './faults.js';
import { LIMITS } from './limits.js';
import { findWrites, type Writes } from './markers.js';

/** What is read to find one operation among all, made once. Everything in it is found in constant time. */
export class Case {
  readonly evidence: Evidence;
  readonly operations: ReadonlyMap<string, OperationRecord>;
  readonly operationsByKey: ReadonlyMap<string, readonly OperationRecord[]>;
  readonly operationsByConnection: ReadonlyMap<string, readonly OperationRecord[]>;
  readonly submissionsByKey: ReadonlyMap<string, SubmissionRecord>;
  readonly writes: Writes;
  readonly faults: Faults;
  /** The moment that the rows are of. */
  readonly readAt: number;
  /** What was accepted, recorded or ended so shortly before that moment may be between two hands. */
  readonly inPassing_ms: number;

  constructor(evidence: Evidence) {
    const { submissions, ledger, rows, run } = evidence;
    this.evidence = evidence;
    this.readAt = rows.read_at ?? run.read_at;
    this.inPassing_ms = LIMITS.in_passing_ms + (run.patience_ms ?? 0);
    this.operations = new Map(rows.operations.map((operation) => [operation.id, operation]));
    this.operationsByKey = Map.groupBy(rows.operations, (operation) => operation.idempotency_key);
    this.operationsByConnection = Map.groupBy(rows.operations, (operation) => operation.connection_id);
    this.submissionsByKey = new Map(submissions.map((submission) => [submission.key, submission]));
    this.writes = findWrites(submissions, ledger);
    this.faults = new Faults(run.faults, {
      connections: this.#connectionsByAccount(),
      receivers: [
        ...new Set([
          ...evidence.callbacks.map(({ receiver }) => receiver),
          ...rows.subscriptions.map(({ callback_url }) => callback_url),
        ]),
      ],
    });
  }

  /** The submission that asked for this operation. */
  submissionOf(operation: OperationRecord): SubmissionRecord | undefined {
    return this.submissionsByKey.get(operation.idempotency_key);
  }

  /** The network's writes of this operation, the earliest first. */
  writesOf(operation: OperationRecord): Writes['unasked'] {
    return this.writes.byKey.get(operation.idempotency_key) ?? [];
  }

  /** From its first submission to its end, on true clocks. */
  lifeOf(operation: OperationRecord): Span {
    const from = this.submissionOf(operation)?.sent_at ?? Math.min(operation.created_at, operation.updated_at);
    return { from, to: endOf(operation) ?? this.readAt };
  }

  #connectionsByAccount(): Map<string, string> {
    const connections = new Map<string, string>();
    for (const [key, writes] of this.writes.byKey) {
      const connection = this.submissionsByKey.get(key)?.connection_id;
      for (const { account } of writes) if (connection !== undefined) connections.set(account, connection);
    }
    for (const { connection_id } of this.evidence.submissions) connections.set(connection_id, connection_id);
    return connections;
  }
}

export const hasEnded = (operation: OperationRecord): boolean => isTerminal(operation.status as OperationStatus);

/** When it became terminal, on the database's clock, which is true; undefined while it has not ended. */
export function endOf(operation: OperationRecord): number | undefined {
  return hasEnded(operation) ? operation.updated_at : undefined;
}

/** How an operation is called in a violation. */
export function named({ id, connection_id, capability, idempotency_key }: OperationRecord): string {
  return `operation ${id} (${capability}, connection ${connection_id}, key ${idempotency_key})`;
}
