/** The bounds of the scenario abuse, each with its unit in the name: what is bounded, and what happens when it is reached. */
export const LIMITS = {
  /** What the neighbour sends a second of each kind, whatever the answers take. */
  submits_per_s: 20,
  polls_per_s: 50,
  waits_per_s: 5,
  callbacks_per_s: 5,
  /** Connections of the service that the neighbour works on. */
  neighbour_connections: 8,
  /** HTTP connections of the neighbour at most. Past it a request waits for one, which counts in its latency. */
  neighbour_sockets: 256,
  /** Until the answer of one of its requests, and until its callback. Past it there is none, and it counts with this latency. */
  answer_ms: 20_000,
  /** How long a stream without end is read. */
  stream_ms: 300,
  /** Operations that the neighbour's polls read in turn. */
  polled_operations: 256,
  /** Share of the neighbour's requests of one kind that may fail: beyond, its p99 is a failure, whatever the others took. */
  failed_share: 0.01,

  /** Between two looks at the service's open files and sockets, and at its sessions in the database. */
  handle_sample_ms: 1_000,
  session_sample_ms: 100,
  /** Looks in a row that must find no more sessions at work than before the attack: then they are back. */
  calm_samples: 3,
  /** Until the sessions are back. Past it they count as lost. */
  sessions_back_ms: 30_000,
  /** From the end of an attack until none of its operations and deliveries may be open. */
  settle_ms: 90_000,
  settle_poll_ms: 250,

  /** What an attack may take to put its things in place, and to take them away. Past it the bench fails. */
  prepare_ms: 300_000,
  clear_ms: 120_000,
  /** Beyond its seconds, until the attacker reports. Past it the bench fails. */
  report_ms: 60_000,
  /** How much less the attacker is preferred where both run on one core: so the neighbour's clock is not the attacker's. */
  attacker_nice: 10,
  /** Between two tries of an attacker whose connection was refused or reset. */
  reset_pause_ms: 10,
  /** Until an answer to the attacker. Past it the request counts as unanswered. */
  attacker_answer_ms: 60_000,
  /** Calls of an attacker's preparation under way at once. */
  prepare_calls: 32,

  /** Inputs of a fuzz run that are made and sent as one batch; then the service's health is asked for. */
  fuzz_batch_inputs: 100,
  /** Inputs under way at once. */
  fuzz_clients: 8,
  /** What is shown of an input that brought a breach. */
  shown_characters: 400,
  /** Breaches that are printed. The JSON report has them all. */
  printed_breaches: 20,
} as const;
