/** Every bound of the actor system: its unit in the name, its value, and what happens when it is reached. */
export const LIMITS = {
  /** Submissions a thread holds, waiting or being stored. Past it: 503 `overloaded`, nothing stored. */
  committer_submissions: 10_000,
  /** Submissions stored in one statement. */
  committer_batch: 256,
  /**
   * Statements of the committer under way at once; meanwhile submissions gather into the next batch. One makes larger batches
   * than two, and they cost so much less that it accepts 1.4 times as many (measured on two cores).
   */
  committer_concurrency: 1,
  /** Operations waiting in memory for one connection. Past it: 503 `overloaded` for that connection. */
  mailbox_operations: 10_000,
  /** Operations waiting in memory for one partition. Past it the rest stays in the database, unfetched. */
  partition_operations: 20_000,
  /** Jobs a fetch takes. */
  fetch_batch: 500,
  /** Starts, write boundaries or finishes in one statement, and statements of each kind under way at once. */
  execution_batch: 256,
  execution_concurrency: 1,
  /** Attempts at a read on browser, proxy or network trouble (OPS-4). */
  read_attempts: 3,
  /** Wait before the second attempt, in milliseconds; doubles, with up to half of it as jitter. */
  retry_ms: 250,
  /** Running time of an operation, not counting waiting for the user (OPS-17). */
  operation_ms: 300_000,
  /** How long one challenge waits for its code, and how many wrong codes end the operation (OPS-10). */
  challenge_ms: 600_000,
  challenge_tries: 3,
  /** Lease of a partition on the database's clock, how often it is renewed, and what a holder leaves unused of it. */
  lease_ms: 8_000,
  renew_ms: 2_000,
  lease_margin_ms: 2_000,
  /** Slow poll behind lost wake-ups: queues with due jobs, cancels of waiting operations. */
  poll_ms: 1_000,
  /** How often a thread asks how old its oldest delivery is: for metrics alone, which are scraped more seldom. */
  measure_ms: 5_000,
  /** Signals to other nodes gather this long before one NOTIFY. */
  notify_ms: 10,
  /** On SIGTERM, how long running operations may take to end before their partitions are given up. */
  drain_ms: 10_000,
  /** A thread that dies starts again after this, doubling up to the cap; more often than this in a minute ends the node. */
  restart_ms: 100,
  restart_cap_ms: 5_000,
  restarts_per_minute: 10,
  /** How long a waiter for an operation owned elsewhere waits between looks. */
  remote_poll_ms: 500,
  /** A browser host that has not ended a run this long after it was told to: the run is given up here. */
  stopped_run_ms: 60_000,
  /** A stream that says nothing for this long is silent: it is dropped, and a gap opens. */
  stream_silence_ms: 20_000,
  /** Wait before a stream is opened again; doubles with jitter up to the cap. */
  stream_retry_ms: 500,
  stream_retry_cap_ms: 30_000,
  /** Frames of one stream that wait to be recorded: past it no more is read from it until they are. */
  stream_waiting_frames: 256,
  /** How often a healthy stream's row is touched. */
  stream_heartbeat_ms: 10_000,
} as const;
