import type { OperationStatus } from './records.js';

/** An operation that has ended, as the log tells of it: names and numbers, and nothing that a client or the provider wrote. */
export interface EndedOperation {
  id: string;
  workspace_id: string;
  connection_id: string;
  capability: string;
  status: OperationStatus;
  error_code: string | null;
  /** How many were made. */
  attempts: number;
  /** From its acceptance to its first attempt; absent: none was made, or it ended apart from its attempts. */
  queued_ms?: number;
  /** Over all its attempts (OPS-17). */
  running_ms?: number;
  request_id: string | null;
  traceparent: string | null;
}
