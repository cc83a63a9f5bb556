import { availableParallelism } from 'node:os';

/**
 * Every bound of the browser pool, with its unit in the name and what happens when it is reached. The options of a
 * host may replace those in `PoolLimits`.
 */
export interface PoolLimits {
  /** Warm contexts (0.5 MB each without a page): past it the one that was idle the longest is closed. */
  contexts: number;
  /** Runs that execute at once: further ones wait in the queue. */
  running_runs: number;
  /** Pages open at once (19–41 MB each): a run that needs one waits, without its turn and within its deadline. */
  pages: number;
  /** Runs waiting for their turn, and as many for a page: past it a run fails at once with `browser_unavailable`. */
  queued_runs: number;
  /** Runs waiting for a user's code (they hold a context, no turn): past it a challenge fails the run. */
  waiting_runs: number;
  /** How long a run waits for its turn before it fails with `browser_unavailable`. */
  lease_wait_ms: number;
  /** How long a run waits for `proceed` or `stored` before it fails with `session_fenced`; nothing has left by then. */
  proceed_wait_ms: number;
  /** How long a run waits for a code when nobody cancels it; more than the ten minutes an operation waits. */
  code_wait_ms: number;
  /** A page that waits for a code is closed after this long, and opened again where it was when the code comes. */
  waiting_page_ms: number;
  /** An idle context is closed after this long; its session is stored, nothing is lost. */
  context_idle_ms: number;
  /** Runs on one context before it is made anew. */
  context_uses: number;
  /** Contexts made by one browser before it is retired and another takes its place. */
  browser_contexts: number;
  /** Memory of one browser with its processes, in MiB (PSS): past it the browser is retired. Looked at on Linux only. */
  browser_memory_mib: number;
  /** Between two looks at the memory. */
  memory_interval_ms: number;
  /** Between two canaries: a context and a page made only to see whether the browser still can. */
  canary_interval_ms: number;
  /** A browser whose canary takes longer is killed and replaced. */
  canary_deadline_ms: number;
  /** Pages kept open behind runs that ended well: past it the one unused the longest is closed. */
  warm_pages: number;
  /** A kept page that nobody needs is closed after this long. */
  warm_page_ms: number;
  /** Screenshots and traces of failed runs that are kept: past it the oldest go. */
  artifacts: number;
  /** Keeping what shows why a run failed; past it that is given up. */
  artifacts_ms: number;
  /** One call of a JSON endpoint: past it `upstream_timeout`. */
  request_ms: number;
  /** One navigation or one wait on a page: past it `upstream_timeout`. */
  navigation_ms: number;
  /** Between two probes of a browser. With the probe's deadline and a launch a hung one is replaced within 5 s. */
  probe_interval_ms: number;
  /** A browser that does not say its version within this is hung: killed and replaced. */
  probe_deadline_ms: number;
  /** Closing a page, context or browser: past it the browser is killed by its process id. */
  close_ms: number;
  /** Start of a browser: past it the launch has failed. */
  launch_ms: number;
  /** Shortest pause after a failed launch, doubled each time; runs fail with `browser_unavailable` meanwhile. */
  launch_retry_ms: number;
  /** Longest pause after failed launches. */
  launch_retry_max_ms: number;
}

export const POOL_LIMITS: PoolLimits = {
  contexts: 200,
  running_runs: 32,
  pages: Math.max(2, availableParallelism() * 2),
  queued_runs: 2_000,
  waiting_runs: 300,
  lease_wait_ms: 60_000,
  proceed_wait_ms: 30_000,
  code_wait_ms: 660_000,
  waiting_page_ms: 60_000,
  context_idle_ms: 300_000,
  context_uses: 500,
  browser_contexts: 1_000,
  browser_memory_mib: 1_536,
  memory_interval_ms: 10_000,
  canary_interval_ms: 60_000,
  canary_deadline_ms: 10_000,
  warm_pages: Math.max(2, availableParallelism() * 2),
  warm_page_ms: 60_000,
  artifacts: 200,
  artifacts_ms: 5_000,
  request_ms: 10_000,
  navigation_ms: 20_000,
  probe_interval_ms: 2_000,
  probe_deadline_ms: 2_000,
  close_ms: 3_000,
  launch_ms: 20_000,
  launch_retry_ms: 250,
  launch_retry_max_ms: 10_000,
};

/** Between two reports of what a host holds. */
export const STATS_INTERVAL_MS = 1_000;

/** Connections whose highest `state_revision` and epoch are remembered; past it the one seen the longest ago goes. */
export const REMEMBERED_OWNERSHIPS = 100_000;

/** Messages sent and not yet taken by the other side of a channel: past it `send` refuses. */
export const CHANNEL_BACKLOG_MESSAGES = 65_536;
/** Messages in one envelope: more are posted at once instead of at the end of the turn. */
export const CHANNEL_ENVELOPE_MESSAGES = 1_024;

/** One step of getting a browser onto the machine: past it the next one is tried. */
export const INSTALL_STEP_MS = 600_000;
/** The same when the step says nothing for this long. */
export const INSTALL_SILENCE_MS = 120_000;

/** Opening an event stream: past it the attempt has failed. */
export const STREAM_OPEN_MS = 20_000;
/** Of an answer that refuses an event stream, what is read to learn why: the rest is cut off. */
export const STREAM_REFUSAL_BYTES = 16_384;
/** Characters of one frame of an event stream: past it the stream is ended as malformed. */
export const STREAM_FRAME_CHARACTERS = 1_048_576;

/** One part of a file that is stored as it comes: a multiple of three, so that the base64 texts of parts join. */
export const FILE_PART_BYTES = 786_432;
/** Redirects a file download follows, each re-checked: past it the provider is going round in circles. */
export const FILE_REDIRECTS = 5;
