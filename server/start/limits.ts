/** Every bound of starting and stopping: its unit in the name, its value, and what happens when it is reached. */
export const LIMITS = {
  /** Database connections of the edge: past it its statements wait. */
  edge_connections: 10,
  /** Database connections for leases, hand-overs, hints and health, which wait for no request: past it they wait for each other. */
  control_connections: 3,
  /** Database connections of the command line: past it statements wait. */
  admin_connections: 2,
  /** How often a command that takes long tells what it is at. */
  progress_ms: 2_000,
  /**
   * Rows at either end of a table whose encryption keys are looked at: the oldest and the newest. Of a larger table the counts
   * are "at least".
   */
  key_sample_rows: 5_000,
  /** The stand-in network from its start to its ready line: past it that start has failed. */
  sandbox_start_ms: 30_000,
  /** The stand-in network after its stdin was closed: past it the process is killed. */
  sandbox_stop_ms: 5_000,
  /** Wait before the stand-in network is started again; doubles up to the cap. */
  sandbox_retry_ms: 250,
  sandbox_retry_cap_ms: 10_000,
  /** The demo receiver's certificate: past it callbacks to that receiver fail until its files are removed. */
  receiver_certificate_years: 10,
  /**
   * HTTP connections that `HTTP_CONNECTIONS` is derived to be: at most, at least (where descriptors are few, it may be that they run
   * out), and where the limit of descriptors is not known.
   */
  http_connections: 50_000,
  http_connections_least: 32,
  http_connections_unknown: 10_000,
  /** Descriptors left for what opens after the edge (connections to the database, pipes of browsers): past it HTTP connections are few. */
  spare_descriptors: 64,
} as const;
