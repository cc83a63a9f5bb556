/** What the program of the consoles is to do. */
export interface ConsolesOrder {
  url: string;
  /** A key of the workspace that they look at. */
  key: string;
  consoles: number;
  /** How long they have been open when what they have is counted from: the program, and each page, begins with more work than it goes on with. */
  lead_s: number;
  /** How long they stay open from then on. */
  seconds: number;
}

/** What all consoles of a run had, from the end of the lead on. */
export interface ConsolesSeen {
  /** Answers to what they asked for. */
  requests: number;
  bytes: number;
  /** Events of the live channel. */
  changes: number;
  /** Processor time of the program. */
  cpu_ms: number;
}
