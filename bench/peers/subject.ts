/** What one turn measures: servers that take submissions, with their store, begun anew for each turn and ended with it. */
export interface Subject extends AsyncDisposable {
  url: string;
  /** Of every request. */
  authorization: string;
  /** What it takes, by the name of the figures that come of it. */
  submissions: Record<string, Submissions>;
  /** Where an operation is read. */
  pathOf(id: string): string;
  /** True once all that was accepted has ended, whatever is done afterwards. */
  idle(): Promise<boolean>;
  ended(): Promise<Ended>;
  cpu(): Cpu;
}

export interface Submissions {
  /** Taken in turn. */
  paths: string[];
  /** NUMBER stands for what is new in each. */
  body: string;
}

/** How many operations have succeeded so far, and when the last one did, in milliseconds since 1970. */
export interface Ended {
  ended: number;
  last_ms: number;
  /** What PostgreSQL has logged so far, and what its tables and indexes take. Absent: the store is another. */
  wal_bytes?: number;
  stored_bytes?: number;
}

/** Milliseconds of processor time so far: of the processes that serve and execute, and of those that store. */
export interface Cpu {
  server_ms: number;
  store_ms: number;
}
