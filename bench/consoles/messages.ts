/** What the program of the consoles is to do. */
export interface ConsolesOrder {
  url: string;
  /** A key of the workspace that they look at. */
  key: string;
  consoles: number;
  /** How long they stay open. */
  seconds: number;
}

/** What all consoles of a run had. */
export interface ConsolesSeen {
  /** Answers to what they asked for. */
  requests: number;
  bytes: number;
  /** Events of the live channel. */
  changes: number;
  /** Processor time of the program. */
  cpu_ms: number;
}
