/**
 * Every bound of the browser pool, with its unit in the name and what happens when it is reached. A host's options
 * may replace those of `PoolLimits`; the rest follows from the protocol.
 */
export interface PoolLimits {
  /** Warm contexts (0.5 MB each without a page): past it the least recently used idle one is closed. */
  contexts: number;
  /** Runs that hold a context at once (a page is 19–41 MB): further ones wait in the lease queue. */
  running_runs: number;
  /** Waiting runs: past it a run fails at once with `browser_unavailable`. */
  queued_runs: number;
  /** How long a run may wait for its turn before it fails with `browser_unavailable`. */
  lease_wait_ms: number;
  /** An idle context is closed after this long; its session is stored, nothing is lost. */
  context_idle_ms: number;
  /** Runs on one context before it is made anew. */
  context_uses: number;
  /** Contexts made by one browser before it is retired and another takes its place. */
  browser_contexts: number;
}

export const POOL_LIMITS: PoolLimits = {
  contexts: 200,
  running_runs: 8,
  queued_runs: 2_000,
  lease_wait_ms: 60_000,
  context_idle_ms: 60_000,
  context_uses: 200,
  browser_contexts: 1_000,
};

/** Messages sent and not yet taken by the other side of a channel: past it `send` refuses. */
export const CHANNEL_BACKLOG_MESSAGES = 65_536;
/** Messages in one envelope: more are posted at once instead of at the end of the turn. */
export const CHANNEL_ENVELOPE_MESSAGES = 1_024;
