/** What a fault hits: one of the nodes, the database, an account of the network, or one of the receivers. */
export type Hit = 'node' | 'database' | 'account' | 'receiver';

interface Kind {
  hits: Hit;
  /** Faults of one part of one target follow each other; those of different parts overlap. */
  part: string;
  /** How long it lasts, from and to; 0: it is over at once. */
  lasts_ms: readonly [number, number];
  means: string;
}

const kind = (hits: Hit, part: string, lasts_ms: readonly [number, number], means: string): Kind => ({
  hits,
  part,
  lasts_ms,
  means,
});

/** Every kind of fault. A lease is 8 s: pauses of a node are below it or beyond it. */
export const KINDS = {
  node_killed: kind('node', 'process', [200, 10_000], 'SIGKILL, started again at the end'),
  node_ended: kind('node', 'process', [200, 4_000], 'SIGTERM, started again after its end'),
  node_paused_below_lease: kind('node', 'process', [1_000, 5_000], 'SIGSTOP, SIGCONT at the end'),
  node_paused_beyond_lease: kind('node', 'process', [9_000, 15_000], 'SIGSTOP, SIGCONT at the end'),
  browser_killed: kind('node', 'browser', [0, 0], 'SIGKILL of the Chromium'),
  browser_paused: kind('node', 'browser', [1_000, 8_000], 'SIGSTOP of the Chromium, SIGCONT at the end'),
  thread_crashed: kind('node', 'thread', [0, 0], 'an error that an actor thread does not catch'),
  thread_paused: kind('node', 'thread', [1_000, 12_000], 'an actor thread does not get to anything'),
  clock_off: kind('node', 'clock', [8_000, 25_000], 'the clock is two to four minutes before or behind'),
  link_cut: kind('node', 'link', [0, 0], 'every connection to the database is cut'),
  link_stalled_up: kind('node', 'link', [1_000, 15_000], 'what the node says is held'),
  link_stalled_down: kind('node', 'link', [1_000, 15_000], 'what the database answers is held'),
  link_stalled_both: kind('node', 'link', [1_000, 15_000], 'both are held'),
  link_deaf: kind('node', 'link', [1_000, 5_000], 'what the node says arrives, no answer does; cut at the end'),
  database_killed: kind('database', 'server', [300, 8_000], 'SIGKILL of PostgreSQL, started again at the end'),
  database_disk_full: kind('database', 'server', [2_000, 6_000], 'no byte is left on its disk'),
  backends_terminated: kind('node', 'backends', [0, 0], 'pg_terminate_backend of all that the node has'),
  network_error: kind('account', 'network', [1_000, 6_000], 'every request is answered 500'),
  network_error_after_commit: kind(
    'account',
    'network',
    [1_000, 6_000],
    'every request is answered 500 after the work',
  ),
  network_delay: kind('account', 'network', [1_000, 6_000], 'every request takes 3 s longer'),
  network_drop_before_commit: kind('account', 'network', [1_000, 6_000], 'connections are cut before the work'),
  network_drop_after_commit: kind('account', 'network', [1_000, 6_000], 'connections are cut after the work'),
  network_hang: kind('account', 'network', [1_000, 4_000], 'no request is answered'),
  network_malformed: kind('account', 'network', [1_000, 4_000], 'answers hold nothing of what was promised'),
  network_logged_out: kind('account', 'network', [500, 2_000], 'the session is ended'),
  receiver_killed: kind('receiver', 'process', [500, 10_000], 'SIGKILL, started again at the end'),
  receiver_late: kind('receiver', 'process', [2_000, 10_000], 'callbacks are answered seconds late, byte by byte'),
  receiver_refusing: kind('receiver', 'process', [1_000, 8_000], 'callbacks are answered 500'),
} satisfies Record<string, Kind>;

export type FaultKind = keyof typeof KINDS;

export const FAULT_KINDS = Object.keys(KINDS) as FaultKind[];
