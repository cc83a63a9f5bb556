const STREAM_HEARTBEAT_ms = 10_000;

/** Every bound of the actor system, deliveries apart: its unit in the name, its value, and what happens when it is reached. */
export const LIMITS = {
  /** Connections to the database that one thread may hold, by the number of threads: so all stay far below the server's bound. */
  least_thread_connections: 3,
  most_thread_connections: 8,
  /** A thread's further connections for commits that need not be on the disk when they answer. Past it such statements wait. */
  relaxed_connections: 2,
  /** Submissions a thread holds, waiting or being stored. Past it: 503 `overloaded`, nothing stored. */
  committer_submissions: 10_000,
  /** What the inputs of a thread's submissions may take on their way to the commit. Past it: 503 `overloaded`, nothing stored. */
  submissions_bytes: 32 * 2 ** 20,
  /** How long one submission waits for a connection that is being changed. Past it: 503 `overloaded`, nothing stored. */
  submission_ms: 1_000,
  /** How long a submission may have to wait, as the rate of the last ones tells. Past it: 503 `overloaded`, at once. */
  submission_wait_ms: 500,
  /** How long submissions are counted for that rate. */
  submission_rate_ms: 250,
  /** Submissions stored in one statement. Past it the rest goes into the next one. */
  committer_batch_submissions: 256,
  /** What their inputs may take in one statement: it takes several times as much on its way. Past it the rest goes into the next one. */
  committer_batch_bytes: 4 * 2 ** 20,
  /** How long a submission of a batch that failed waits for its part of it, while the batch is divided; then it fails as the batch did. */
  committer_division_ms: 10_000,
  /**
   * Statements of the committer under way at once for inputs of up to `LARGE_INPUT_bytes`, and as many for larger ones; meanwhile submissions gather into the next batch. One makes larger batches
   * than two, and they cost so much less that it accepts 1.4 times as many (measured on two cores).
   */
  committer_statements: 1,
  /** Operations waiting in memory for one connection. Past it: 503 `overloaded` for that connection, at every node (HTTP-13). */
  mailbox_operations: 10_000,
  /** Ids that a mailbox keeps after they were taken, as long as more than as many wait. Past it they are dropped. */
  mailbox_taken: 1_024,
  /**
   * Operations waiting in memory for one partition, at about a hundred bytes each. Past it the rest stays in the database, unfetched,
   * and waits for what is ahead of it: so it is more than the bound of a workspace, whose slow work shall not stand before others'.
   */
  partition_operations: 1_000_000,
  /** What of a workspace's bound a thread must have in hand to report it. Less is not counted. */
  reported_backlog_share: 1 / 1_000,
  /**
   * Partitions of a thread whose mailboxes one statement opens, or reads, and how many of these: each partition has its share. The rest goes into
   * another one.
   */
  opened_partitions: 64,
  opened_mailboxes: 512,
  /** Such readings under way at once: meanwhile the next one gathers. */
  reading_statements: 2,
  /** Operations of a mailbox that one statement reads. A mailbox with as many is read by itself, page by page. */
  mailbox_page: 1_000,
  /** How long a mailbox with nothing in it stays open: what is accepted meanwhile needs no job. */
  mailbox_idle_ms: 1_000,
  /** Operations of an open mailbox that end until its mark is moved: so many rows more are read when it is opened after a crash. */
  mailbox_ended: 200,
  /** Mailboxes that one statement closes; the rest goes into the next one. */
  closing_mailboxes: 500,
  /** How often rows and memory of a partition are compared. A difference that is seen twice in a row has the partition taken again. */
  sweep_ms: 6_000,
  /** Partitions that are compared at a poll. The others follow at the next ones. */
  sweep_partitions: 8,
  /** Mailboxes of a partition that are compared. Those behind them are compared at its next turn. */
  sweep_mailboxes: 5_000,
  /**
   * Operations are looked for that no mailbox covers: how often; how old they are then, by their ids; operations of a statement, the others
   * follow at the next look; how far back a thread begins that is to look; and how many that have not ended are looked at again, past which
   * some are not.
   */
  orphan_look_ms: 1_000,
  orphan_age_ms: 5_000,
  orphan_operations: 10_000,
  orphan_history_ms: 10 * 60_000,
  watched_operations: 50_000,
  /** Starts, write boundaries or finishes in one statement. Past it the rest goes into the next one. */
  execution_batch_items: 256,
  /**
   * How long such an item, or an event, of a batch that failed waits for its part of it, while the batch is divided; then it fails as the batch
   * did, and is asked for again. Five statements at their limit (`thread_statement_ms`) leave one item of 256 alone.
   */
  execution_division_ms: 30_000,
  /** Statements of each of these kinds under way at once; meanwhile the next batch gathers. */
  execution_statements: 1,
  /**
   * Attempts of a thread at operations with larger inputs, which hold several times as much memory while they run; and of them, those
   * of one workspace. Past either the operation stays queued, as its id, in turns between workspaces.
   */
  large_attempts: 24,
  workspace_large_attempts: 12,
  /** Attempts at a read on browser, proxy or network trouble (OPS-4). After the last one the operation fails. */
  read_attempts: 3,
  /** Wait before the second attempt at anything that is tried again; doubles up to the cap, with jitter. */
  retry_ms: 250,
  retry_cap_ms: 1_000,
  /** How long a start goes on through an outage of a database that had answered it. Past it the process ends with one line. */
  start_outage_ms: 60_000,
  /** Wait before another attempt at what this node lacks an encryption key for; meanwhile another node may take it. */
  key_wait_ms: 30_000,
  /** Running time of an operation, not counting waiting for the user (OPS-17). Past it: `deadline_exceeded`. */
  operation_ms: 300_000,
  /** Running time of a look (OPS-22), not counting waiting for a browser. Past it the look tells `deadline_exceeded`. */
  look_ms: 60_000,
  /** How far the provider's clock may be behind this node's: what shows from this long before the attempt on may be its write. */
  look_clock_ms: 60_000,
  /** How long one challenge waits for its code (OPS-10). Past it: `challenge_expired`. */
  challenge_ms: 600_000,
  /** Codes an operation may ask for (OPS-10). When the last one is wrong as well: `challenge_failed`. */
  challenge_tries: 3,
  /** Lease of a partition on the database's clock. Past it any node may claim the partition. */
  lease_ms: 8_000,
  /** How often leases are renewed. */
  renew_ms: 2_000,
  /** The end of a lease that its holder leaves unused: in it nothing external begins. */
  lease_margin_ms: 2_000,
  /** Partitions taken at once, each in a transaction of its own: the rest waits for its turn, and a renewal for none of them. */
  taking_transactions: 2,
  /** How long such a transaction waits for a lock. Past it the partition is left to the next round, and the others go on. */
  taking_lock_ms: 250,
  /** How long a node that leaves gives the database beyond `drain_ms`. Past it its leases run out by themselves. */
  leave_ms: 1_000,
  /** How long a drained thread of actors may take to close. Past it the thread is ended: the database does not answer it. */
  thread_drain_ms: 5_000,
  /** Slow poll behind lost hints: queues with due jobs, cancels of waiting operations. */
  poll_ms: 1_000,
  /** Partitions whose queues one statement of it looks at; fewer after one that took `slow_poll_ms`. */
  polled_partitions: 64,
  slow_poll_ms: 250,
  /** How often as long as a look took it rests, and for how long at most. */
  poll_rests: 19,
  poll_rest_cap_ms: 10_000,
  /** How often a thread reads of its partitions what only rows can tell: for metrics alone. */
  measure_ms: 15_000,
  /** Hints to other nodes gather this long before one NOTIFY; what somebody waits for leaves at once, with what is there. */
  notify_ms: 10,
  /** How often a node makes sure that it still hears hints, and how long an answer to that may take. Past it, it connects again. */
  bus_heartbeat_ms: 2_000,
  /** Wait before it connects again; doubles with jitter up to `retry_cap_ms`. */
  bus_retry_ms: 50,
  /** How long running operations may take to end before their partitions are given up (SIGTERM, levelling). Past it they are fenced. */
  drain_ms: 10_000,
  /** How long nothing may be heard of a running thread, which reports every `poll_ms`. Past it the thread hangs, and is ended. */
  silent_thread_ms: 15_000,
  /** How long a thread may load before it is first heard. Past it the thread hangs, and is ended. */
  silent_start_ms: 60_000,
  /** A thread that dies starts again after this wait; doubles up to the cap. */
  restart_ms: 100,
  restart_cap_ms: 5_000,
  /** Restarts of all threads of one kind within a minute. Past it none is restarted, and the node reports `failed`. */
  restarts_per_minute: 10,
  /** How long a waiter for an operation waits for a wake-up before it reads the row again: one of another node may be lost. */
  remote_poll_ms: 500,
  /** How long wake-ups are remembered, at least: a waiter reads a row faster, or reads it again at the next poll. */
  wake_up_memory_ms: 1_000,
  /** Operations of a node that are awaited at others. Past it the one that was announced the longest ago is found by polls. */
  remote_waits: 20_000,
  /** How long such an announcement holds: a waiter makes another every `remote_poll_ms`, and may come a little late. */
  remote_wait_ms: 1_000,
  /** Operations whose rows one statement looks at, whether they ended before their waits were announced. */
  remote_wait_looks: 256,
  /**
   * Runs that one thread has at one browser host, those apart that wait for a code. Past it an operation waits in its thread with
   * its clock stopped, its secrets sealed, in turns between workspaces.
   */
  ordered_runs: 256,
  /** How long a browser host may take to end a run that was cancelled. Past it the run is given up in its actor thread. */
  stopped_run_ms: 60_000,
  /** How long a session that its site renewed is tried to be stored: past it the renewal is lost, and a login may be due. */
  session_save_ms: 30_000,
  /** How long who is refused with a session waits for answers to others that use it. Past it what is stored by then counts. */
  session_answers_ms: 20_000,
  /** How long a stream may send nothing. Past it the stream is dropped, and a gap opens. */
  stream_silence_ms: 20_000,
  /** Streams of a thread that are being opened at once. Past it a stream waits for its turn. */
  stream_openings: 8,
  /** How long an opening stream may keep its turn without a frame. Past it the next one is opened beside it. */
  stream_opening_ms: 3_000,
  /** Streams of a partition that was taken are opened at random times within this. */
  stream_spread_ms: 1_000,
  /** Slow poll behind lost hints: connections whose session changed on another node. */
  stream_poll_ms: 10_000,
  /** Wait before a stream is opened again; doubles with jitter up to the cap. */
  stream_retry_ms: 500,
  stream_retry_cap_ms: 30_000,
  /** Frames of one stream that wait to be recorded. Past it nothing more is read from the stream until they are. */
  stream_waiting_frames: 256,
  /** How often a healthy stream's row is touched. */
  stream_heartbeat_ms: STREAM_HEARTBEAT_ms,
  /**
   * Age of that touch, on the database's clock, from which on nobody listens: two may be lost to a database that is away. Above
   * `stream_silence_ms`, which ends a stream that is only being opened. Past it the listener route says `degraded`.
   */
  stream_stale_ms: 3 * STREAM_HEARTBEAT_ms,
} as const;
