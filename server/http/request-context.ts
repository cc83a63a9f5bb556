import type { Origin } from '../../storage/model/origin.js';
import type { OpenSpan } from '../../storage/tracing/tracing.js';
import type { UsableKey } from '../../storage/workspaces/keys.js';

/** One request as its line in the log, and the operation that it submits, name it. Filled in as it becomes known. */
export class RequestContext implements Omit<Origin, 'sender'> {
  /** HTTP-3. */
  readonly requestId: string;
  /** The trace that the request belongs to, where its sender named one. */
  traceparent: string | null = null;
  key: UsableKey | undefined;
  /** What is left of the rates of its workspace that it counts in, where they are limited, as it stood when it was counted. */
  rateHeaders: Record<string, string> | undefined;
  connectionId: string | undefined;
  operationId: string | undefined;
  /** While spans are made. */
  span: OpenSpan | undefined;

  constructor(requestId: string) {
    this.requestId = requestId;
  }
}
