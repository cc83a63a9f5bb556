/** The bounds of a soak, each with its unit in the name: what is bounded, and what happens when it is reached. */
export const LIMITS = {
  /** Clients that look for the best rate, each with one burst under way. */
  clients: 64,
  /** HTTP connections of the clients for submissions, and as many for waits. Past it a request waits for one. */
  client_connections: 128,
  /** Submissions without an answer at once. Past it a due submission is left out, which ends the bench with status 1. */
  submissions_under_way: 2_000,
  /** Of so many operations one is waited for to its end, and one is read once; also the operations of a burst. */
  followed_operations: 8,
  /** Until the answer of one request. Past it the request counts as unanswered. */
  request_ms: 40_000,
  /** How long a wait on an operation asks the service to wait. */
  wait_s: 30,
  /** Until the clients, told to stop, have their last answers. Past it they are ended, and the bench fails. */
  last_answers_ms: 120_000,
  /** Between two looks of the open loop at what is due, at most. */
  tick_ms: 10,

  /** Between two samples, and between two progress lines. */
  sample_ms: 5_000,
  progress_ms: 10_000,
  /** From the end of the load until no operation and no delivery may be open. */
  settle_ms: 60_000,
  settle_poll_ms: 500,

  /**
   * Of a second half shorter than this nothing is judged: tables are vacuumed once a minute at the most (autovacuum_naptime), and what
   * warms up takes minutes.
   */
  judged_ms: 240_000,
  /** Samples that are looked at; of more, so many are picked evenly. */
  picked_samples: 240,
  /** What a measure may grow by over the second half: absolute, or this share of its median, whichever is more. */
  growth_share: 0.15,
  growth_rss_mib: 64,
  growth_browser_mib: 128,
  growth_handles: 32,
  growth_connections: 4,
  growth_contexts: 2,
  growth_waiting: 500,
  growth_answer_ms: 50,
  /** Of the table and of the indexes of one that must not grow. */
  growth_table_mib: 4,
  /** For each row of a table that is meant to grow, in bytes of the table with its indexes. */
  growth_row_bytes: 64,
  /** Below so many rows a table says nothing of the bytes that a row takes. */
  growing_rows: 5_000,
  /** Share of dead rows that a table that is meant to grow may have, as the median of the last quarter. */
  dead_share: 0.5,

  /** What a latency of the last quarter may be more than in the first: absolute, or this share of it, whichever is more. */
  creep_ms: 50,
  creep_share: 0.5,
  creep_p99_ms: 250,
  creep_p99_share: 1,

  /** Faults that are printed. The JSON report has them all. */
  printed_faults: 25,
} as const;
