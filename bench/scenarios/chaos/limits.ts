/** The bounds of a chaos run, each with its unit in the name: what is bounded, and what happens when it is reached. */
export const LIMITS = {
  /** Before the first fault: every part is up and work is under way. */
  first_fault_ms: 3_000,
  /** Before the end of the load, in which no fault begins; one that would last into it is shortened. */
  quiet_end_ms: 2_000,
  /** Between two faults of the same part of the same target, at least. */
  fault_pause_ms: 300,

  /** Until a node that was started serves. Past it the process is killed and started again. */
  node_start_ms: 40_000,
  /** The same where a node has drawn limits: it may take over by pages of two rows. */
  slow_node_start_ms: 240_000,
  /** From the end of the load until every node serves. Past it the run is given up. */
  nodes_back_ms: 420_000,
  /** Between two starts of a part that ended. */
  restart_ms: 250,
  /** Until a node that was told to end has ended. Past it the process is killed, which the report says. */
  node_stop_ms: 30_000,
  /** How often a tampered thread looks for orders. */
  tamper_poll_ms: 100,

  /** What the clock of a node's ids may be off by with extremes, before or behind. */
  ids_off_ms: 5_000,

  /** With extremes: the backends that are paused now and then, how long these, how long they run at most between two pauses, and what these take. */
  paused_share: 0.15,
  pauses_round_ms: 1_000,
  between_pauses_ms: 6,
  short_pause_ms: [1, 10],
  long_pause_ms: [50, 400],
  long_pauses_share: 0.15,
  /** With extremes: operations of each simulated connection that ended before the run, and lie behind every mark. */
  history_operations: 4_000,

  /** Between two looks for operations in nobody's hand. */
  orphan_poll_ms: 2_000,
  /** For the answer to such a look, or to one for backends to pause. Past it the look found nothing. */
  look_ms: 5_000,

  /** The file system of a database that can be full. The image is sparse: it takes what is written. */
  disk_mib: 16_384,

  /** For the answer of one request of a client. Past it the request counts as unanswered, and is sent again. */
  request_ms: 8_000,
  /**
   * How long a client keeps an idle connection: less than a node takes to end. One that is used at the very moment at which the node
   * closes it takes a request along that nobody can answer.
   */
  idle_connection_ms: 300,
  /** Between two tries of one submission, growing from the first to the second. */
  retry_ms: 100,
  retry_cap_ms: 2_000,
  /** After the load: submissions without an answer are tried for so long. Past it they count as never answered. */
  last_answers_ms: 25_000,
  /** Submissions under way at once. Past it a due submission is left out, which the report counts. */
  submissions_under_way: 1_500,
  /** How often the session of a social connection is looked at; one that ended is made anew. */
  session_poll_ms: 2_000,
  /** Until the answer of a wait on an operation. */
  wait_ms: 12_000,

  /** What a receiver that answers late takes, at most. */
  late_answer_ms: 6_000,

  /** Between two samples of the nodes. */
  sample_ms: 5_000,
  /** Between two progress lines. */
  progress_ms: 10_000,
  /** From the last fault, and the last acceptance, to the end of every operation, as promised. */
  operations_end_ms: 30_000,
  /** Nodes are paused before the rows are read; what they had said by then takes effect within it. */
  last_words_ms: 300,
  /** Between two looks at what has not ended. */
  settle_poll_ms: 500,
  /** Violations that are printed. The evidence has them all. */
  printed_violations: 25,
} as const;
