/** The bounds of this folder, with their units in their names. */
export const LIMITS = {
  /** How long the note of a paused destination is kept without a try; and how many such notes one statement deletes, the rest later. */
  pause_forgotten_hours: 168,
  forgotten_pauses: 100,
  /** Subscriptions that `oldestPending` looks at, those whose jobs are due the longest first. It reports nothing of the others. */
  oldest_pending_subscriptions: 1_000,

  /** Deliveries of one status that `subscriptionStats` counts; above it the count is reported as capped. Index only. */
  stats_counted_deliveries: 100_000,
  /**
   * Deliveries of each status whose attempts `subscriptionStats` reads: the newest, but of `pending` the oldest, which are tried
   * first. Above it the answer is reported as incomplete. With the other two bounds it takes 0.4 s at worst (measured, a million
   * deliveries).
   */
  stats_examined_deliveries: 5_000,
  /** Of each of them, the newest attempts that are read. Above it the answer is reported as incomplete. */
  stats_attempts: 10,

  /** Entries of the audit log that a page looks at for those that its filters want. */
  audit_look_rows: 10_000,
  /** How long before the time in an operation's id, and after it, its submission is looked for in the audit log: clocks differ, and storing may wait. */
  submission_lead_s: 10,
  submission_lag_s: 60,
  /**
   * Entries that one statement reads of a part that is written into a file. How often a node looks after the parts of the audit log, and how soon again where that
   * failed; counts of what was shown that one statement forgets, and the rest before the next one.
   */
  audit_archive_rows: 2_000,
  audit_parts_ms: 6 * 60 * 60_000,
  audit_parts_retry_ms: 60_000,
  audit_forget_rows: 5_000,
  audit_forget_pause_ms: 200,
  /** What an entry is taken to store of its workspace until it is measured. */
  audit_entry_bytes: 300,
  /** Rows that one page of the command line's lists looks at. A page that ends there is short, and the next one goes on. */
  operator_list_rows: 10_000,

  /** Messages that one page of a simulated inbox reads. A page that ends there is short, and the next one goes on. */
  inbox_window_messages: 2_000,
  /** How far the time that a message carries may lie before the time it was recorded. Farther back, the time of recording counts. */
  message_lag_ms: 10 * 60_000,

  /** How long an unknown outcome that nobody has looked at is counted for metrics; how many mailboxes that are due, and operations of each. */
  recent_unknown_hours: 24,
  measured_mailboxes: 10_000,
  measured_operations: 1_000,

  /** Connections whose looks one statement finds. Past it the others follow when these are in hand. */
  requested_looks: 256,

  /** Mailboxes that recovery looks through in one statement, and operations that it reads in them; it goes on until none is left. */
  recovered_mailboxes: 500,
  recovered_rows: 50_000,
  /** Attempts of an operation that were lost with their thread or node; then it ends `worker_lost` in place of another one (OPS-24). */
  lost_attempts: 5,
  /** Fetched jobs that a recovery puts back in one statement; it goes on until none is left. */
  put_back_jobs: 2_000,
  /** Jobs of a restored database that one statement looks at to end writes; it goes on until none is left. */
  settled_jobs: 1_000,

  /** Gaps of a connection's stream, the newest, that are looked through for one whose end was not recorded. */
  examined_gaps: 10,
  /** Those that were closed longer ago have had it: a retention erases events after a day at the earliest. */
  examined_gap_hours: 24,

  /** Operations that one statement of `findSubmitted` looks at; it goes on until its time is looked through, or so many are found. */
  examined_operations: 20_000,
  found_operations: 100,

  /**
   * The log: bytes of one write, which a pipe keeps whole; how long a line waits for others; and what waits at a thread for a slow
   * reader, past which lines are dropped.
   */
  log_write_bytes: 4_096,
  log_flush_ms: 100,
  log_buffer_bytes: 4 * 1024 * 1024,

  /**
   * Spans that wait at a thread, past which they are dropped; how long they wait to be sent together; how long a thread that ends waits for
   * the last of them; and how often it tells that they cannot be sent.
   */
  trace_spans: 8_192,
  trace_delay_ms: 1_000,
  trace_close_ms: 3_000,
  trace_trouble_ms: 60_000,

  /**
   * Of what needs attention: entries of a kind that are shown; how many are counted, past which it is told that there are more; paused
   * destinations of the installation that are looked through for those of a workspace; and since when a subscription is on hold that is among
   * them.
   */
  attention_shown: 20,
  attention_counted: 1_000,
  attention_pauses: 10_000,
  attention_hold_h: 24,
  /** A step of the overview; how long one is kept; rows that are deleted with a step, the others with the next. */
  overview_step_ms: 10_000,
  overview_ms: 60 * 60_000,
  overview_deleted_rows: 10_000,
  /** How long after its end a step is shown: by then its nodes have stored it. */
  overview_settled_ms: 2_000,
  /** How often it is told what has changed, and looked for what other nodes have stored; and how old that may be. */
  overview_poll_ms: 1_000,
  overview_recent_ms: 60_000,
  /** Steps that wait to be stored while the database is away: past it the oldest is lost. */
  overview_kept_steps: 30,

  /** How far the clock of a node, which is in the ids it makes, may be behind: nothing is erased by its age sooner than this behind its days. */
  id_clock_ms: 5 * 60_000,
  /** How long a node may be without a heartbeat; then another one deletes its rows. */
  node_silence_ms: 60 * 60_000,
  /** How often a node that lives looks for rows of those that are silent. */
  forget_ms: 10 * 60_000,
  /** Announcements that become events in one transaction, and how often is looked for them while there are none. */
  announcement_rows: 200,
  announcement_poll_ms: 250,
  /** When a batch could not be recorded: how long each connection's are by themselves, and how many connections a round takes. */
  announcement_apart_ms: 5_000,
  announcement_connections: 200,
  /** How long a statement may take that records one announcement alone: it becomes as many deliveries as its connection has subscriptions. */
  announcement_alone_ms: 5_000,
  /**
   * How often a node has its shares of the rates of workspaces dealt anew, and how long it may be silent: then the others share what was its.
   * Together they are less than two seconds.
   */
  share_ms: 500,
  share_silence_ms: 1_200,
  /**
   * Of the measurement of what workspaces store: operations of a slice; the least pause behind one; how long it rests when it is through with
   * all workspaces; how often a node looks whether it is due; and how often it adds what it accepted.
   */
  stored_slice_rows: 2_000,
  stored_pause_ms: 50,
  stored_rest_ms: 30_000,
  stored_poll_ms: 5_000,
  stored_note_ms: 1_000,
  /** How exact an API key's `last_used_at` is: a use within this time of the last one is not written. */
  key_touch_ms: 60_000,
  /** A session of the console ends that long after its sign-in, and that long after its last use. */
  session_ms: 12 * 60 * 60_000,
  session_idle_ms: 2 * 60 * 60_000,
  /** Sessions of one key: past it the oldest end. */
  key_sessions: 100,
  /** Kept of what a browser calls itself; the rest is cut off. */
  user_agent_characters: 200,
  /** Sessions whose time is over are looked for so often, and deleted so many at a time, with that pause between. */
  session_sweep_ms: 60_000,
  session_sweep_rows: 1_000,
  session_sweep_pause_ms: 100,

  /** How long a mark on a challenge keeps other answers out. Past it the edge that made it was lost, and another answer counts. */
  answer_mark_ms: 10_000,

  /** Rows that a re-encryption reads at a time; it goes on until none is left. */
  reencrypt_page_rows: 50,

  /** How long a migration waits for a lock, during which all later statements on that table wait behind it; then it lets them by and tries again. */
  migration_lock_ms: 2_000,
  /** How long a migration tries; then the start fails. */
  migration_wait_ms: 60_000,

  /** Rows that one transaction of a removal or of a long disconnect takes; more take another. About a tenth of a second. */
  removal_rows: 1_000,
  /** By how much the clock of a node, by which an operation has its id, may differ from that of the database, by which it has its time. */
  clock_difference_ms: 600_000,
  /** Connections, or subscriptions, that a node looks at in one turn of its removals; the others wait for the next turn. */
  removal_connections: 100,
  /** Parts of files among them; a part holds up to a megabyte. */
  removal_file_parts: 50,
  /** Bytes of inputs and results that a slice of a removal or of the retention erases; an operation with more is a slice of its own. */
  removal_bytes: 16 * 1024 * 1024,
  /** Operations, or events, that one slice of `admin erase --person` reads. */
  erasure_rows: 200,
  /** How long a rewrite waits for a table, in ms, behind which everybody else waits; and how often it tries. */
  rewrite_lock_ms: 2_000,
  rewrite_tries: 5,
  /** Connections of a slice in which the members of a workspace's subscription follow it; each is locked for as long. */
  settle_connections: 200,
  /** How often a node looks whether such a change was left to be gone on with. A failure waits as long. */
  settle_poll_ms: 1_000,
  /** Pause between two such transactions, so that others' statements and disks keep up. */
  removal_pause_ms: 20,
  /** How often a node looks whether a connection is to be removed. A failure waits as long. */
  removal_poll_ms: 1_000,
  /**
   * Longer than any statement of a submission takes. A removal waits so long before it notes the used keys and before it deletes
   * the rows that had them: a submission that began before either still finds a key where it looks for it.
   */
  removal_settle_ms: 10_000,
  /** Rows that one slice of the retention reads or deletes of its class; deliveries take their attempts with them. */
  retention_rows: 200,
  /** Operations that were passed by before, which one slice of inputs or results looks at again, and how soon after it did. */
  retention_passed_rows: 100,
  retention_passed_ms: 10 * 60_000,
  /** Subscriptions, and connections, that one slice of deliveries and of events looks at; it goes on until all are through. */
  retention_subscriptions: 100,
  retention_connections: 20,
  /** How often a node looks whether a slice is due, and waits after a failure. */
  retention_poll_ms: 5_000,
  /** About how long a round through everything takes: its slices are spread over it, so that others have the database most of the time. */
  retention_round_ms: 2 * 60_000,
  /** Rows that fail alone and are passed over in one turn of a class; then it is left to the next round. */
  retention_failures: 3,
  /** How long before it is due a slice may be begun: timers of a busy process are early by as much as it is behind, and who came too soon would look again much later. */
  retention_early_ms: 100,
  /** How many times as long as a slice the pause behind it is at most. */
  retention_most_pauses: 9,
  /** How long a change of a connection waits for a lock; then it is refused with 503. */
  change_lock_ms: 1_000,
  /** How long a disconnect goes on cancelling before it answers; the rest is canceled after it. */
  disconnect_ms: 5_000,

  /** Characters that a log line keeps of an error's message (Playwright's hold a browser's command line); the rest is cut off. */
  error_message_characters: 500,

  /** How long a statement waits for a free connection to the database, and how long it may take; see `postgres/time-limits.ts`. */
  edge_connect_ms: 1_900,
  edge_statement_ms: 1_500,
  edge_lock_ms: 1_000,
  control_connect_ms: 2_000,
  control_statement_ms: 3_000,
  control_lock_ms: 1_000,
  thread_connect_ms: 5_000,
  thread_statement_ms: 5_000,
  thread_lock_ms: 300,
  connect_timeout_ms: 10_000,
  tool_statement_ms: 600_000,
  /** How long a session may be idle inside a transaction; then the server ends it, and its locks are free. */
  idle_transaction_ms: 5_000,
  /** How much sooner than the client the server ends a statement: a refusal is known, a lost answer is not. */
  statement_margin_ms: 250,
  /** How long a rollback may take; then its connection is destroyed, which rolls back as well. */
  rollback_ms: 1_000,
  /** One attempt to connect, however long a statement may wait for a connection; then the next attempt begins. */
  connect_attempt_ms: 2_000,
  /** A connection without traffic is probed after `idle`, then every `interval`; after `count` probes without an answer it is dead. */
  keepalive_idle_s: 5,
  keepalive_interval_s: 2,
  keepalive_count: 3,
  /** How long what the server sent may stay unacknowledged; then it ends the session. */
  unacknowledged_ms: 10_000,
  /** How often the server looks whether the client of a running statement is still there; then it ends the statement. */
  client_check_ms: 1_000,
  /** While the database is away it is asked after this wait; doubles up to the cap. Statements fail at once meanwhile. */
  away_probe_ms: 100,
  away_probe_cap_ms: 500,
  /** How long one such question may take; then it is asked anew. */
  probe_attempt_ms: 1_000,
  /** How long no pool may miss the database until an outage counts as over; one that misses it sooner goes on with the same. */
  outage_settled_ms: 2_000,
  /** How exactly the event loop's lag is measured, and for how long its longest is kept for a scrape. */
  loop_lag_resolution_ms: 20,
  loop_lag_ms: 15_000,
  /** Connections lost while idle are logged once in this time: a server that stops loses all of them at once. */
  lost_connection_log_ms: 10_000,
  /** How long a connection stays open without a statement; then it is closed, and opened again when one is needed. */
  idle_connection_ms: 60_000,
  /** How long a start-up waits for an answer of DATABASE_URL; then the command fails. */
  probe_timeout_ms: 5_000,
  /** How often it is tried whether a pooler gives a session's server connection away: other clients may hide it once. */
  pooler_rounds: 5,
  /** How long a start-up waits for another process to stop the embedded database; then the command fails. */
  database_stop_ms: 15_000,
  /** Wait before the embedded database is started again when it has ended by itself; doubles up to the cap. */
  database_restart_ms: 250,
  database_restart_cap_ms: 5_000,
  /** Ends and failed starts of it within this time; past them the process ends with one line. */
  database_restarts: 5,
  database_restarts_ms: 60_000,
  /** How often a start-up looks whether it has stopped. */
  database_stop_poll_ms: 100,
  /** Lines of PostgreSQL's output that are kept for the message of a failed start; earlier ones are dropped. */
  database_output_lines: 3,

  /** Messages sent and not yet taken by the other side of a channel: past it `send` refuses. */
  channel_backlog_messages: 65_536,
  /** Messages in one envelope: past it they are posted at once instead of at the end of the turn. */
  channel_envelope_messages: 1_024,
} as const;
