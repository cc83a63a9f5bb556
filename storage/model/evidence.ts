import type { OperationErrorCode } from './error-codes.js';

/**
 * What is known of a write whose outcome is not (OPS-22). Its end stores it, or the recovery after its worker was lost. It holds
 * times, statuses, codes and ids: nothing that a client or the provider wrote, so it is not sealed (STO-1).
 */
export interface StoredEvidence extends WriteProgress {
  fault: EvidenceFault;
}

/** How far the one request of a write came, as its sender saw it. */
export interface WriteProgress {
  request: {
    /**
     * `yes`: all of it was given to the network, which does not prove that it arrived. `partly`: it began to leave. `unknown`:
     * nobody is left who could tell.
     */
    sent: 'yes' | 'partly' | 'unknown';
    /** When it began to leave; null where that is unknown. ISO 8601. */
    at: string | null;
  };
  /** The answer, from its head on; null when none came. */
  answer: { status: number } | null;
}

/** What ended the attempt: one of these codes of failed operations, or that the connection broke before the answer was there. */
export type EvidenceFault =
  | Extract<
      OperationErrorCode,
      | 'upstream_timeout'
      | 'upstream_error'
      | 'parsing_error'
      | 'browser_unavailable'
      | 'session_fenced'
      | 'deadline_exceeded'
      | 'worker_lost'
      | 'internal_error'
    >
  | 'connection_lost';

/** Which thread of which node works; `thread` as its log lines have it. */
export interface Worker {
  node_id: string;
  thread: string;
}

/** When an attempt passed the write boundary, and who ran it. In the attempt from the statement on that lets it pass. */
export interface Boundary extends Worker {
  at: string;
}

/** Of a request whose sender tells nothing. */
export const UNKNOWN_PROGRESS: WriteProgress = { request: { sent: 'unknown', at: null }, answer: null };
