import type { EndedOperation } from '../model/ended-operation.js';
import type { AttemptStatus } from '../model/records.js';
import type { Tracing } from './tracing.js';

/*
 *     request ─▶ operation ─┬─▶ queued
 *                           ├─▶ attempt (one or more, each by who made it)
 *                           └─▶ callback (of its events)
 */

/** The traceparent of what belongs under an operation; `traceparent`: the operation's own. */
export function underOperation(traceparent: string, operationId: string): string {
  return `${traceparent.slice(0, 36)}${spanIdOf(operationId)}${traceparent.slice(52)}`;
}

/** The last half of the id, which is random and never zero. */
function spanIdOf(operationId: string): string {
  return operationId.replaceAll('-', '').slice(16);
}

/** When the operation was accepted: its id carries it. Milliseconds since 1970. */
function acceptedAt(operationId: string): number {
  return Number.parseInt(operationId.replaceAll('-', '').slice(0, 12), 16);
}

/** The spans of an operation that has ended now. None of one that was submitted apart from every trace. */
export function recordOperation(tracing: Tracing, ended: EndedOperation): void {
  const { id, traceparent: parent, status, queued_ms } = ended;
  if (parent === null) return;
  const start_ms = acceptedAt(id);
  tracing.record({
    ...{
      name: `operation ${ended.capability}`,
      kind: 'internal',
      parent,
      id: spanIdOf(id),
      start_ms,
      end_ms: Date.now(),
    },
    attributes: {
      'operation.id': id,
      'operation.capability': ended.capability,
      'operation.status': status,
      'operation.attempts': ended.attempts,
      'connection.id': ended.connection_id,
      'workspace.id': ended.workspace_id,
      'request.id': ended.request_id ?? undefined,
      'error.type': ended.error_code ?? undefined,
    },
    failed: status === 'failed' || status === 'outcome_unknown',
  });
  if (queued_ms === undefined) return;
  const queued = { name: 'queued', kind: 'internal', start_ms, end_ms: start_ms + queued_ms } as const;
  tracing.record({ ...queued, parent: underOperation(parent, id), attributes: {}, failed: false });
}

/** An attempt that has ended now. */
export interface EndedAttempt {
  operationId: string;
  /** The operation's. */
  traceparent: string | null;
  number: number;
  status: AttemptStatus;
  reason: string;
  /** Milliseconds since 1970. */
  start_ms: number;
}

export function recordAttempt(tracing: Tracing, { operationId, traceparent, ...attempt }: EndedAttempt): void {
  if (traceparent === null) return;
  const { number, status, reason, start_ms } = attempt;
  tracing.record({
    ...{ name: `attempt ${number}`, kind: 'internal', parent: underOperation(traceparent, operationId) },
    ...{ start_ms, end_ms: Date.now() },
    attributes: { 'attempt.number': number, 'attempt.status': status, 'attempt.reason': reason },
    failed: status !== 'succeeded',
  });
}
