import { availableParallelism } from 'node:os';

/** Pages that render at once without getting in each other's way: two a processor, two at least. */
const PAGES = Math.max(2, availableParallelism() * 2);

/**
 * Every bound of the browser pool: the unit ends the name, the comment gives what happens when it is reached. The options
 * of a host may replace single ones for its own runs, contexts and browsers.
 */
export const LIMITS = {
  // Runs
  /** Runs that execute at once: further ones are queued, for as long as it takes; their senders bound how many. */
  running_runs: 32,
  /** Runs that wait for a user's code (they hold a context, no slot): past it a challenge fails the run. */
  waiting_runs: 300,
  /** Of them those of one workspace, so that its users who look for their codes leave room for others'. Past it the same. */
  waiting_runs_workspace: 200,
  /** Between two looks at a page whose challenge is answered elsewhere, doubled each time up to the cap: each opens the page anew. */
  challenge_look_ms: 2_000,
  challenge_look_cap_ms: 15_000,
  /** How long a run waits for `proceed` or `stored`: past it it fails, to be tried again; nothing has left by then. */
  proceed_wait_ms: 30_000,
  /** One call of a JSON endpoint, for a write its connection and its request each: past it `upstream_timeout`. */
  request_ms: 10_000,
  /** One navigation or one wait on a page: past it `upstream_timeout`. */
  navigation_ms: 20_000,
  /** How long a page that shows which one it is may go on loading: past it the run goes on without the rest. */
  page_rest_ms: 5_000,

  // Contexts and pages
  /** Open contexts (0.5 MB each without a page): past it the one that was idle the longest is closed. */
  contexts: 200,
  /** How long an idle context stays open: past it the context is closed; its session is stored, nothing is lost. */
  context_idle_ms: 300_000,
  /** Runs on one context: past it the context is made anew. */
  context_uses: 500,
  /** Connections whose highest `state_revision` and epoch are remembered: past it the one seen the longest ago is dropped. */
  remembered_connections: 100_000,
  /** Pages held by runs at once (19–41 MB each): a run that needs one waits, without its slot and with its clock stopped. */
  pages: PAGES,
  /** How long a page that waits for a code stays open: past it the page is closed, and opened again where it was. */
  waiting_page_ms: 60_000,
  /** Pages kept open behind runs that ended well: past it the one unused the longest is closed. */
  warm_pages: PAGES,
  /** How long an unused kept page stays open: past it the page is closed. */
  warm_page_ms: 60_000,

  // Browsers
  /** Start of a browser: past it the launch has failed. */
  launch_ms: 20_000,
  /** Wait after a failed launch, doubled each time up to the cap; runs fail with `browser_unavailable` meanwhile. */
  launch_retry_ms: 250,
  launch_retry_cap_ms: 10_000,
  /** Closing a context or a browser: past it the browser is killed by its process id. */
  close_ms: 3_000,
  /** Contexts made by one browser: past it the browser is retired and another takes its place. */
  browser_contexts: 1_000,
  /** Memory of one browser with its processes, in MiB (PSS): past it the browser is retired. Measured on Linux only. */
  browser_memory_mib: 1_536,
  /** Between two measurements of the memory. */
  memory_interval_ms: 10_000,
  /** Between two probes of a browser. With the probe's deadline and a launch a hung one is replaced within 5 s. */
  probe_interval_ms: 2_000,
  /** The answer to a probe: past it the browser is hung, and is killed and replaced. */
  probe_deadline_ms: 2_000,
  /** Between two canaries: a context and a page made only to see whether the browser still can. */
  canary_interval_ms: 60_000,
  /** One canary: past it the browser is killed and replaced. */
  canary_deadline_ms: 10_000,
  /** One step of installing a browser: past it the next step is tried. */
  install_step_ms: 600_000,
  /** Silence of such a step: past it the next step is tried. */
  install_silence_ms: 120_000,

  // Reports
  /** Between two reports of what a host holds. */
  stats_interval_ms: 1_000,
  /** Screenshots and traces of failed runs that are kept: past it the oldest are deleted. */
  artifacts: 200,
  /** Keeping what shows why a run failed: past it that is given up. */
  artifacts_ms: 5_000,

  // The provider's streams and files
  /** Opening an event stream: past it the attempt has failed. */
  stream_open_ms: 20_000,
  /** What is read of an answer that is no event stream, or a page in place of a file: past it the rest is cut off. */
  page_opening_bytes: 65_536,
  /** One frame of an event stream: past it the stream is ended as malformed. */
  stream_frame_characters: 1_048_576,
  /** The answer to a write, as it comes and decoded: past it the write's outcome is in question. */
  write_answer_bytes: 1_048_576,
  /** The answer to a read of an endpoint, as it comes and decoded: past it `parsing_error`. */
  read_answer_bytes: 8_388_608,
  /** The headers of an answer: past it `parsing_error`. Those of pages are the browser's to bound (256 KiB). */
  answer_header_bytes: 65_536,
  /** How deep the values of an answer or a frame are nested: past it `parsing_error`, or it is unreadable. */
  answer_depth: 64,
  /** How long the connection of a read is kept for the next one of its run: past it it is closed. */
  read_connection_ms: 1_000,
  /** One part of a file that is stored as it comes: a multiple of three, so that the base64 texts of parts join. */
  file_part_bytes: 786_432,
  /** Redirects that a file download follows, each checked: past it the download fails with `upstream_error`. */
  file_redirects: 5,
};

/** The limits of one host. */
export type PoolLimits = Readonly<typeof LIMITS>;
