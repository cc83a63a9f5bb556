import { LIMITS } from '../limits.js';

/**
 * How long the statements of one pool may take. Each bound is kept on both sides of the link: the server ends what it can
 * still tell about, and the client what the server's answer does not come for.
 */
export interface TimeLimits {
  /** For a free connection of the pool, or a new one: past it the statement fails as not sent. */
  connect_ms: number;
  /** For one statement, a commit or rollback: past it its connection is destroyed, and its outcome is unknown. The server refuses it a little before. */
  statement_ms: number;
  /** For one lock: past it the statement is refused. 0: for as long as the statement may take. */
  lock_ms: number;
  /** Between the statements of a transaction: past it the server ends it, and its locks are free. */
  idle_transaction_ms: number;
}

/** By whose statements they are. */
export const TIME_LIMITS = {
  /** Requests: their clients wait. */
  edge: {
    connect_ms: LIMITS.edge_connect_ms,
    statement_ms: LIMITS.edge_statement_ms,
    lock_ms: LIMITS.edge_lock_ms,
    idle_transaction_ms: LIMITS.idle_transaction_ms,
  },
  /** Leases, hand-overs and health: each has to be known well within a lease. */
  control: {
    connect_ms: LIMITS.control_connect_ms,
    statement_ms: LIMITS.control_statement_ms,
    lock_ms: LIMITS.control_lock_ms,
    idle_transaction_ms: LIMITS.idle_transaction_ms,
  },
  /** Actor threads: what they store is asked again until it is known. */
  thread: {
    connect_ms: LIMITS.thread_connect_ms,
    statement_ms: LIMITS.thread_statement_ms,
    lock_ms: LIMITS.thread_lock_ms,
    idle_transaction_ms: LIMITS.idle_transaction_ms,
  },
  /** The command line and tools: a person waits, and one statement may be long. */
  tool: {
    connect_ms: LIMITS.connect_timeout_ms,
    statement_ms: LIMITS.tool_statement_ms,
    lock_ms: 0,
    idle_transaction_ms: LIMITS.tool_statement_ms,
  },
} as const satisfies Record<string, TimeLimits>;

/** The limits as settings of a session. Absent: none of a statement, a lock or a transaction. */
export function serverSettings(limits: TimeLimits | undefined): Record<string, number> {
  return {
    // Before the client's own limit, so that most statements end with a refusal: its outcome is known.
    statement_timeout: limits ? Math.max(1, limits.statement_ms - LIMITS.statement_margin_ms) : 0,
    lock_timeout: limits?.lock_ms ?? 0,
    idle_in_transaction_session_timeout: limits?.idle_transaction_ms ?? 0,
    // A node that is gone, or whose link is: its sessions end, and their locks are free.
    tcp_keepalives_idle: LIMITS.keepalive_idle_s,
    tcp_keepalives_interval: LIMITS.keepalive_interval_s,
    tcp_keepalives_count: LIMITS.keepalive_count,
    tcp_user_timeout: LIMITS.unacknowledged_ms,
    client_connection_check_interval: LIMITS.client_check_ms,
  };
}
