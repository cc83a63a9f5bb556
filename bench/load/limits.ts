/** The bounds of the load program, each with its unit in the name: what is bounded, and what happens when it is reached. */
export const LIMITS = {
  /** Requests of an open loop without an answer, where the order does not say how many. Past it what is due is left out. */
  under_way_requests: 20_000,
  /** Pause of a client of a closed loop that was refused: without one it would spend the service's cores on refusals. */
  refused_ms: 20,
  /** Until the head of an answer, and until its end. Past it the request has no answer. */
  answer_ms: 60_000,
  /** How long a wait on an operation asks the service to wait. Past it an operation that is still open is a fault. */
  wait_s: 30,
  /** Operations accepted last that are polled. Of more, the oldest are forgotten. */
  remembered_operations: 1_024,
  /** Operations of a page that is listed. */
  page_operations: 20,
  /** Of the timeline: good answers are counted in steps of this. */
  timeline_ms: 250,
  /** Between two messages about how far it is. */
  progress_ms: 500,
} as const;
