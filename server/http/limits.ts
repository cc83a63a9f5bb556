/** The edge's bounds, one place. What happens at each stands beside it. */

/** Bodies of submissions; past it 413 (HTTP-10). Holds an attachment of 1,000,000 bytes in base64. */
export const OPERATION_BODY_bytes = 2 * 1024 * 1024;
/** Every other body; past it 413. */
export const BODY_bytes = 64 * 1024;
/**
 * Read and dropped past a body's limit, so that its sender reads the answer instead of a reset; past this too the
 * answer is sent at once and the connection closed.
 */
export const DROPPED_BODY_bytes = 16 * 1024 * 1024;
/** All headers of a request; past it uWebSockets.js answers 431 itself. */
export const HEADERS_bytes = 16 * 1024;
/** Answers from this size on are written as the client takes them, not copied whole into a socket's buffer. */
export const STREAMED_ANSWER_bytes = 128 * 1024;

/** A key read from the database is trusted this long: a revoked one stops working after it. */
export const KEY_CACHE_ms = 1_000;
/** Keys kept, right or wrong; the oldest goes. */
export const KEY_CACHE_keys = 10_000;
/** A submission trusts this long that its connection is there; the commit notices one that is gone. */
export const CONNECTION_CACHE_ms = 1_000;
/** Connections remembered for submissions; the one not asked for longest goes. */
export const CONNECTION_CACHE_connections = 50_000;
/** `last_used_at` is written this often. */
export const KEY_TOUCH_ms = 60_000;

/** Ids a loader asks for in one query. */
export const LOADER_keys = 256;
/** Queries of one loader under way at once; while they are, ids gather. */
export const LOADER_queries = 4;
/** Ids a loader holds; past it 503 `overloaded`. */
export const LOADER_bound_keys = 20_000;

/** A page of events or deliveries (EVT-7). */
export const PAGE_rows = 100;
export const MAX_OFFSET_rows = 100_000;
/** `Prefer: wait=N` at most (HTTP-18). */
export const MAX_WAIT_s = 30;
/** How long the compatibility route waits for the operation (COMPAT-1). */
export const INVITATION_WAIT_ms = 5_000;
/** Gaps a listener's answer holds. */
export const LISTENER_GAPS_rows = 50;
/** The old secret signs beside the new one (EVT-12). */
export const SECRET_OVERLAP_hours = 24;
/** Deliveries made pending by one transaction of a bulk replay. */
export const REPLAY_BATCH_rows = 1_000;
/** `/healthz` gives the database this long. */
export const HEALTH_DATABASE_ms = 2_000;
