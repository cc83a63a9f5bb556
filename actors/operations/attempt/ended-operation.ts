import type { EndedOperation } from '../../../storage/model/ended-operation.js';
import type { OperationStatus } from '../../../storage/model/records.js';
import type { FinishedOperation } from '../../../storage/operations/execution.js';
import type { StartedOperation } from '../../../storage/operations/starts.js';
import { recordAttempt } from '../../../storage/tracing/operation-spans.js';
import type { Tracing } from '../../../storage/tracing/tracing.js';

/** The operation as the log tells of its end, which this attempt was stored as. */
export function endedOperation(
  started: StartedOperation,
  { errorCode, running_ms }: Pick<FinishedOperation, 'errorCode' | 'running_ms'>,
  status: OperationStatus,
): EndedOperation {
  return {
    id: started.operation_id,
    workspace_id: started.workspace_id,
    connection_id: started.id,
    capability: started.capability,
    status,
    error_code: errorCode,
    attempts: started.attempt_number,
    // Two clocks, where one node accepted it and another started it.
    queued_ms: Math.max(0, Date.parse(started.first_started_at) - started.accepted_at.getTime()),
    running_ms: Math.round(started.spent_ms + running_ms),
    request_id: started.request_id,
    traceparent: started.traceparent,
  };
}

/** The span of an attempt that was stored as this, where spans are made. */
export function recordEndedAttempt(
  tracing: Tracing | undefined,
  { operation_id: operationId, traceparent, attempt_number: number }: StartedOperation,
  { attemptStatus: status, reason }: Pick<FinishedOperation, 'attemptStatus' | 'reason'>,
  start_ms: number,
): void {
  if (tracing) recordAttempt(tracing, { operationId, traceparent, number, status, reason, start_ms });
}
