/** Where an operation came from. */
export interface Origin {
  /** The request that submitted it (HTTP-3). */
  requestId: string | null;
  /** The trace that it belongs to, in the form of `parseTraceparent`. */
  traceparent: string | null;
}

/** Of an operation that no request is known of: a node of the version before stored it. */
export const UNKNOWN_ORIGIN: Origin = { requestId: null, traceparent: null };
