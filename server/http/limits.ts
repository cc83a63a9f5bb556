/** Every bound of the edge: its unit in the name, its value, and what happens when it is reached. */
export const LIMITS = {
  /** Body of a submission: past it 413 (HTTP-10). Holds an attachment of 1,000,000 bytes in base64. */
  operation_body_bytes: 2 * 1024 * 1024,
  /** Every other body: past it 413. */
  body_bytes: 64 * 1024,
  /**
   * Read and dropped past a body's limit, so that its sender reads the answer instead of a reset. Past this too the
   * answer is sent at once and the connection closed.
   */
  dropped_body_bytes: 16 * 1024 * 1024,
  /**
   * Of the memory for the bodies of all requests, which is a setting, what those larger than `small_body_bytes` may take: past it 503
   * `overloaded`, so that small ones have room.
   */
  large_bodies_percent: 60,
  /**
   * Of that part, what the large bodies of one workspace may take: past it they get the same 503, and another workspace's find room.
   */
  workspace_large_bodies_percent: 50,
  /** Bodies of more than `body_bytes` that are worked on at once: past it they wait for their turn, and so long at most: 503 `overloaded`. */
  large_bodies: 2,
  large_body_wait_ms: 5_000,
  /** Values in a body of more than `body_bytes`, by its commas; no input has half as many. Past it 400, before it is parsed. */
  large_body_values: 20_000,
  /** How deep objects and lists stand in one another in a body, itself counted: past it 400, before it is parsed. No input has half of it. */
  body_depth: 64,
  /**
   * What is taken of a body before its request's key, path and size were looked at, then its connection is paused. What came by then
   * of larger ones may take `unchecked_bodies_percent` of the memory: past it 503 `overloaded` where the request may send it.
   */
  small_body_bytes: 16 * 1024,
  unchecked_bodies_percent: 12,
  /** Wrong places that a 400 names. Of those past it, it gives the number. */
  shown_errors: 50,
  /** All headers of a request: past it uWebSockets.js answers 431 itself. */
  headers_bytes: 16 * 1024,
  /** Answers from this size on are written as the client takes them, not copied whole into a socket's buffer. */
  streamed_answer_bytes: 128 * 1024,
  /** Of a large body that needs no key, who takes less than so many bytes in so long is cut. */
  slow_reader_bytes: 160 * 1024,
  slow_reader_ms: 10_000,
  /** How hard the bodies that do not change are compressed, once each: of 11, where each step more takes about twice as long. */
  brotli_quality: 6,
  /** The reference is made in slices of about so long, between which others get their turns. */
  document_slice_ms: 5,

  /** A key read from the database is trusted this long: a revoked one stops working after it. */
  key_cache_ms: 1_000,
  /** Keys kept, and as many wrong ones: past it the least recently used one is dropped. */
  key_cache_keys: 10_000,
  /** Of those that were shown something within the hour. */
  reveals_known: 10_000,
  reveals_store_ms: 1_000,
  /**
   * Wrong keys looked up a second, of one address and of all: past it a key that is not known is answered 429, and looked up when it
   * comes again, which so many may do a second of all addresses.
   */
  failed_keys_address_per_s: 100,
  failed_keys_per_s: 1_000,
  repeated_keys_per_s: 500,
  /** Addresses and refused keys that are remembered for it: past it the least recently used one is forgotten. */
  failing_addresses: 20_000,
  refused_keys: 30_000,
  /** Sign-ins to the console with one key a second: past it 429. */
  sign_ins_per_s: 5,
  /**
   * Sign-ins that are refused and recorded a minute, of one address and of all: past it one that is refused is answered 429, without an
   * entry of the audit log.
   */
  refused_sign_ins_address_per_min: 10,
  refused_sign_ins_per_min: 60,
  /** A workspace that asks for nothing for so long is forgotten by the count of its rate, and begins anew (HTTP-27). */
  rate_idle_ms: 30_000,
  /** `last_used_at` of a key is written at most this often. */
  key_touch_ms: 60_000,
  /** A submission trusts this long that its connection is there; the commit notices a deleted one. */
  connection_cache_ms: 1_000,
  /** Connections remembered for submissions: past it the least recently used one is dropped. */
  connection_cache_connections: 50_000,

  /** Ids a loader reads in one query: more go into the next one. */
  loader_batch_keys: 256,
  /** Queries of one loader under way at once: meanwhile ids gather. */
  loader_queries: 4,
  /** Ids a loader holds: past it 503 `overloaded`. */
  loader_keys: 20_000,
  /** How long an id may wait for its query: while one has waited longer, 503 `overloaded`. */
  loader_wait_ms: 500,
  /**
   * How long a submission waits for its commit before the database is asked whether it answers at all, and then each time as long
   * again: when it does not within `database_answer_ms`, or after `slow_submission_ms`, 503 `unavailable`. It may be stored all the
   * same; then the same key is answered with it.
   */
  submission_ms: 1_000,
  database_answer_ms: 900,
  slow_submission_ms: 15_000,

  /** Of the API's database connections, what the requests of one workspace may hold at once: past it they wait for their turn. */
  workspace_database_percent: 30,
  /** Statements of a workspace that wait for it, and for how long: past either 503 `overloaded`. */
  workspace_waiting_statements: 500,
  workspace_statement_wait_ms: 1_500,

  /** Large answers to one workspace that are being sent: past it 503 `overloaded`. A client may read as slowly as it likes. */
  workspace_answer_bytes: 64 * 2 ** 20,

  /**
   * Requests of keys under way with which a thread that runs `late_ms` late is behind: then every request but health is answered 503
   * `overloaded` before any check. The lateness is measured every `lateness_sample_ms`.
   */
  busy_requests: 256,
  late_ms: 150,
  lateness_sample_ms: 20,
  /**
   * Requests at work that a workspace has at most beside others, on average. While this node runs `paced_late_ms` late, and one that
   * asks for little is there to be protected, they become `pace_fall` times as many every `pace_step_ms`, then `pace_rise` times; at
   * least `pace_least`, one for a part of the time, and `pace_light_room` times what the busiest of those asks for.
   */
  pace_most: 24,
  pace_least: 0.1,
  pace_light_room: 2,
  paced_late_ms: 12,
  pace_fall: 0.75,
  pace_rise: 1.1,
  /** A request that took less than the price of its kind lowers it by that part of the difference, one that took more raises it. */
  price_falls_of: 4,
  price_rises_of: 256,
  /** Bytes of a body that are taken to cost a millisecond until requests of the kind have shown their price. */
  unknown_price_bytes_a_ms: 32 * 1024,
  pace_step_ms: 100,
  /**
   * What a workspace had at work counts about so long; with less than `pace_active` on average it is not at work, with less than
   * `pace_gone` it is forgotten.
   */
  pace_memory_ms: 500,
  pace_active: 0.005,
  pace_gone: 0.0001,
  /**
   * From this lateness on a refusal of a stranger, or for want of room, is held back `held_for_late` times as long as this node is late,
   * and so long at most.
   */
  held_late_ms: 4,
  held_for_late: 20,
  held_ms: 1_000,
  /** Probes of a node that are answered at once, those of strangers too. Past it each is answered `held_probe_ms` later, and none is refused. */
  probes_per_s: 100,
  held_probe_ms: 500,
  /** The quickest answer of the database, and of a commit, counts for that much more every `pace_step_ms` while nobody shares the node. */
  best_answer_growth: 1.001,
  /** A request waits for its workspace's part: past it 503 `overloaded`. */
  paced_wait_ms: 5_000,
  /** The same for the next piece of an answer that is being sent: past it the connection is cut. */
  paced_piece_wait_ms: 60_000,

  /** A page of events or deliveries, and the most a page of operations takes (EVT-7): the rest is on the next pages. */
  page_rows: 100,
  /**
   * Operations that a page of their list looks at for those that fit its filter: past it the page ends short, or empty, and its
   * `next_cursor` leads on.
   */
  looked_at_operations: 1_000,
  /** Rows that a whole list reads at a time. More are read as the client takes what was read: a slice holds up what others ask for. */
  list_slice_rows: 100,
  /** Furthest offset: a larger one is refused with 400, and `next_offset` ends there. */
  offset_rows: 100_000,
  /** `Prefer: wait=N`: a longer wait is cut to this (HTTP-18). */
  wait_s: 30,
  /** How long an owner may take to take a challenge's code: past it 503 `unavailable`, and the code may be given again. */
  code_taken_ms: 5_000,
  /** How soon after a code's hint the row is looked at; doubles up to `code_hint_ms`. The hint is sent again each time. */
  code_look_ms: 15,
  code_hint_ms: 250,
  /** How long the compatibility route waits for the operation: past it 202 (COMPAT-1). */
  invitation_wait_ms: 5_000,
  /** How long a reconcile waits for the look that it asked for: past it the answer has the one before, or none (OPS-22). */
  look_wait_ms: 5_000,
  /** How long a cancel of many operations goes on: past it the client asks again (OPS-5). */
  cancel_many_ms: 5_000,
  /** How long a reconnect link works (CONN-15). */
  reconnect_link_s: 15 * 60,
  /** Logins of one link: past it 409 `link_used`. */
  reconnect_tries: 5,
  /** Gaps a listener's answer holds: older ones are left out. */
  listener_gaps_rows: 50,
  /**
   * The live channel of the console (HTTP-29): streams of a node, those of one workspace, and those that only operators get, past which one
   * more is 503 `overloaded`; how often one has an event, and its session is looked at; how often an operator's pages look at the
   * installation; and how long it is silent at most.
   */
  live_streams: 200,
  live_streams_workspace: 100,
  live_streams_operators: 20,
  live_event_ms: 1_000,
  live_installation_ms: 10_000,
  live_comment_ms: 15_000,
  /**
   * Streams of the audit log (HTTP-30): those of a node, of one workspace, and those that only operators get, past which one more is 503
   * `overloaded`; entries that one reads at a time, and how long it waits for more; and how long it is silent at most.
   */
  audit_streams: 20,
  audit_streams_workspace: 5,
  audit_streams_operators: 5,
  audit_read_rows: 500,
  audit_poll_ms: 1_000,
  audit_empty_line_ms: 15_000,
  /** Proxies that their list shows: those past it are left out. */
  listed_proxies: 1_000,
  /** How long a key that is rotated may go on to work, and how long it does when nothing else is said (HTTP-26). */
  key_overlap_s: 31_536_000,
  usual_key_overlap_s: 24 * 3_600,
  /** How long an earlier secret signs beside the new one, from its rotation on (EVT-12). */
  secret_overlap_hours: 24,
  /** Earlier secrets of a subscription that sign at once: a rotation past it is 409 `too_many_secrets`. */
  former_secrets: 5,
  /** Overviews that are kept until their next step, of about 20 kB each. */
  overview_answers: 200,
  /** How long a request waits for the connections to follow a change of their workspace's subscription, in ms; the rest follows after it. */
  settle_ms: 1_000,
  /** Test events of a subscription under way at once: one more is 409 `too_many_tests` (EVT-19). */
  pending_tests: 5,
  /** Deliveries of a subscription, the newest, among which these are counted: however long its backlog, a test costs the same. */
  tests_among_deliveries: 100,
  /** Addresses of one workspace that prove themselves at once, at a node (EVT-18): past it 503 `overloaded`. */
  workspace_verifications: 8,
  /** Deliveries made pending by one transaction of a bulk replay: more take another transaction. */
  replay_batch_rows: 1_000,
  /** How long a drain waits for the answers under way. Past it the node goes on with its end, and they may be cut by it. */
  drain_ms: 5_000,
  /**
   * How long connections are kept once nobody new is let in: what was on its way on them comes within it. Those that are idle by
   * then are closed.
   */
  parting_ms: 100,
  /** A period in which something of what is under way then must be answered, or taken by its client. Past it connections are closed. */
  parting_answers_ms: 5_000,
  /** Such periods at most, while answers go on. */
  parting_periods: 3,
  /** `/healthz` and `/readyz` give the database this long: past it 503. */
  health_database_ms: 1_500,
} as const;
