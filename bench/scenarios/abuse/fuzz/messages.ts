/** What a path may name, of one tenant. */
export type Resource = 'connection' | 'operation' | 'subscription' | 'event' | 'delivery';
export type Ids = Record<Resource, string[]>;

/** Words that are planted, each unlike any other text, and must not come back. */
export interface Planted {
  /** In the other tenant's rows: no answer to the fuzzer may hold it. */
  marker: string;
  /** In passwords and codes that the fuzzer sends: neither an answer nor the log may. */
  hidden: string;
  /** In texts and signing secrets that it sends: the log may not. */
  sealed: string;
}

export interface FuzzOrder {
  url: string;
  seed: number;
  seconds: number;
  planted: Planted;
  /** Keys of the fuzzer's own workspace: with every scope, and with one. */
  keys: { full: string; narrow: string };
  own: Ids;
  /** The other tenant's. */
  others: Ids;
}

/** One input that brought what it must not. */
export interface Finding {
  /** Which of the seed's inputs. */
  number: number;
  what: string;
  request: string;
  answer: string;
}

export interface FuzzResult {
  inputs: number;
  seconds: number;
  /** Answers by status; 0: none came in time, or the connection ended. */
  statuses: Record<string, number>;
  findings: Finding[];
  health: { asked: number; failed: number; longest_ms: number };
}
