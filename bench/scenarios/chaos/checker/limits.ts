/** The bounds of the checker, each with its unit in the name: what is bounded, and what happens when it is reached. */
export const LIMITS = {
  /** From the last fault, or from a later acceptance, to an operation's end. One that ends later counts as lost. */
  end_after_calm_ms: 30_000,
  /**
   * How far two clocks of this machine may disagree: times of the network, of the database and of nodes are compared with so
   * much play. An overlap that is shorter goes unseen.
   */
  same_clock_ms: 5,
  /** Between a write at the network and the end that the database stored for its operation. Past it the write was late. */
  late_write_ms: 250,
  /** From the begin of the transaction that stores an end, which is its time in the rows, until the node notes its own time of it. */
  stored_end_ms: 1_000,
  /** After a fault was undone, what it did still explains failures: a lease, a take-over and the browsers' way back. */
  fault_aftermath_ms: 20_000,
  /** From the answer to a cancel until it must have worked. An attempt that begins later began in spite of it. */
  cancel_ms: 500,
  /** What a network that delays its work keeps a request for. A write that comes so late may have arrived in time. */
  delayed_write_ms: 5_000,
  /** Age of a subscription from which on every event must reach it: before, the two transactions may have passed each other. */
  settled_subscription_ms: 2_000,
  /** What a series of attempts may be shorter by than its waits: an answer counts from when it was stored. */
  early_retry_ms: 5_000,
  /** What one attempt of a delivery may take. One that is under way for longer has lost its sender. */
  attempt_ms: 20_000,
  /** What was accepted or recorded so shortly before the rows were read may be between two hands. */
  in_passing_ms: 10_000,
  /** Age of the heartbeat of a listener that says it is connected. Past it nobody listens. */
  heartbeat_ms: 30_000,

  /** Samples of a process below which, and time of its second half below which, nothing is said about its growth. */
  level_samples: 12,
  level_ms: 90_000,
  /** Samples of a process that are looked at; of more, so many are picked evenly. */
  level_picked_samples: 160,
  /** What a process may grow by over the second half of its life: absolute, or as a share of its median, whichever is more. */
  level_rss_mib: 128,
  level_handles: 64,
  level_connections: 8,
  level_contexts: 8,
  level_share: 0.3,

  /** What the job of a subscription or a mailbox may take to go after the last in it. Past it the rows are read as they are. */
  parking_ms: 5_000,
  parking_poll_ms: 200,
  /** Operations whose story goes with the violations that name them. */
  told_operations: 8,
  /** Rows read from the database at once. */
  page_rows: 10_000,
} as const;
