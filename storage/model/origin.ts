import type { AuditSender } from './audit.js';

/** Where an operation came from. */
export interface Origin {
  /** The request that submitted it (HTTP-3). */
  requestId: string | null;
  /** The trace that it belongs to, in the form of `parseTraceparent`. */
  traceparent: string | null;
  /** Who submitted it, for the audit log; null where what asked for it has an entry of its own. */
  sender: AuditSender | null;
}

/** Of an operation that no request is known of. */
export const UNKNOWN_ORIGIN: Origin = { requestId: null, traceparent: null, sender: null };
