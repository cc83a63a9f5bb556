/** The bounds of a rolling restart, each with its unit in the name: what is bounded, and what happens when it is reached. */
export const LIMITS = {
  /** Until a node that was started again serves, and then owns partitions. Past it the run is given up. */
  node_back_ms: 60_000,
  /** Work before the first restart and after the last one. */
  lead_ms: 3_000,
  /** Until a node answers for its metrics. Past it the run is given up. */
  metrics_ms: 5_000,
  /** Lost requests that are printed. The evidence has them all. */
  printed_requests: 10,
} as const;
