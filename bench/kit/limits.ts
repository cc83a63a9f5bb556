/** The bounds of the bench, each with its unit in the name: what is bounded, and what happens when it is reached. */
export const LIMITS = {
  /** What the bench started, after SIGTERM: past it the processes are killed; a test gives them longer. How often it is looked whether they have ended. */
  children_end_ms: Number(process.env.BENCH_CHILDREN_END_MS ?? 20_000),
  children_poll_ms: 100,
  /** How often a service that starts is asked whether it is ready. Each time costs it and the asker processor time of the start. */
  start_poll_ms: 20,

  /** Until the service answers for its metrics. Past it the scenario fails. */
  metrics_ms: 40_000,

  /** Between two lines that say how far a measurement is, and between two samples of processor time. */
  progress_ms: 2_000,
  /** While nothing is said, the last line is repeated. A little more, so that a line of progress comes first. */
  silence_ms: 2_100,
  cost_sample_ms: 500,
  /** How long one of two trees that are compared makes load before the other does. Longer than a request takes, shorter than the machine's speed stays. */
  compared_turn_ms: 100,

  /** Pieces of work under way at once where nothing is measured. The others wait. */
  concurrent_calls: 16,

  /** Body of a callback that the receiver reads. Past it the connection is destroyed without an answer. */
  callback_body_bytes: 1024 * 1024,
  /** Age of a callback's timestamp. Past it the callback counts as forged: 401. */
  callback_age_seconds: 300,
  /** One in so many callbacks of a measured run has its signature checked. */
  signature_sample_callbacks: 16,
  /** What a receiver on a `/slow` path takes to answer. */
  slow_answer_ms: 3_000,
  /** Events recorded in one statement. */
  recorded_batch_events: 500,
  /** What the last callbacks of a phase may take to arrive. Later ones are not counted. */
  last_callbacks_ms: 3_000,
  /** How long a sixth attempt of a delivery is waited for. One that comes later goes unseen. */
  sixth_attempt_ms: 3_000,

  /** What an event may take from the network to its record. Past it the event counts as lost. */
  relayed_event_ms: 15_000,
  /** Until the last stream is connected. Past it the scenario fails. */
  streams_connected_ms: 300_000,
  /** What the allocator gets to give pages back in, after a collection and before the measurement. */
  collected_memory_ms: 1_000,

  /** Clients of an overload. Past it fewer requests are sent than asked for. */
  overload_clients: 4_000,
  /** Share of the best throughput that an overload must leave, and what a refusal may take. Otherwise the scenario fails. */
  overload_ratio: 0.9,
  refusal_ms: 1_000,
  /** How often the memory of an overloaded service is read. */
  memory_sample_ms: 250,

  /** Until the partitions are levelled out over a new node, and what nodes may be apart in them then. Past it the scenario fails. */
  levelled_ms: 60_000,
  levelled_partitions: 2,
  /** What the operations of a round may take to end once nothing more is submitted. Past it the scenario fails. */
  round_end_ms: 300_000,

  /** Between two progress lines of the fleet. */
  fleet_progress_ms: 5_000,
  /** What idle contexts may take to be closed and counted. Past it the count is as it is. */
  context_sweep_ms: 30_000,
  /** Violations that are printed. The JSON report has them all. */
  printed_violations: 10,

  /** Rows of a page of a list, and the highest offset that the API takes. */
  page_rows: 100,
  offset_rows: 100_000,
  /** Of a long history, the oldest operations that failed: a page that looks for them goes the longest way. */
  failed_operations: 100,

  /** Until a PostgreSQL that a run starts answers. Past it the run fails. */
  postgres_start_ms: 60_000,
  /** What it may take to let a client in, and to end. Past the first the client is turned away, past the second the server is killed. */
  postgres_connect_ms: 5_000,
  postgres_stop_ms: 30_000,

  /** Installing what a scenario compares with. Past it the comparison is left out, or the scenario fails. */
  install_ms: 300_000,

  /** What a peer may take to end all that it accepted. Past it the scenario fails. How often it is asked: what asks costs its store. */
  drained_ms: 300_000,
  drain_poll_ms: 250,
  /** Operations of a peer that are polled in turn. */
  polled_operations: 256,

  /** One sample is taken for so much that is allocated, on average; how many places are told. */
  allocation_sample_bytes: 16_384,
  allocation_places: 20,
} as const;
