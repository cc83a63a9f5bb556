import type { Latency } from '../../kit/latencies.js';

/** A connection that is worked on. */
export interface Worked {
  connectionId: string;
  /** As others write to it. */
  actor: string;
}

/** What the clients of a soak work on. */
export interface LoadOrder {
  url: string;
  key: string;
  /** Makes what this run submits different from what others do. */
  run: string;
  seconds: number;
  simulated: Worked[];
  social: Worked[];
  /** Hash id that social connections write to. */
  person: string;
  /**
   * Submissions a second to simulated connections, whatever the answers take. Absent: a bounded number of bursts is under way, and the
   * next one of a client begins when its last has ended.
   */
  rate?: number;
  /** Submissions a second to social connections. */
  socialRate: number;
}

/** What was said so far. */
export interface LoadCounts {
  /** Due, without those that were left out. */
  sent: number;
  /** Answers 202. */
  accepted: number;
  underWay: number;
  /** Due while too many were under way. */
  leftOut: number;
  /** Answers 503. */
  refused: number;
  /** Every other answer but the expected one, and every end of a followed operation but success, by what it was. */
  errors: Record<string, number>;
}

/** Of the submissions of one quarter of the time. */
export interface QuarterLatencies {
  /** From a submission to its 202. */
  accepted: Latency;
  /** From a submission to its end as a client that waits for it learns of it, of one in a few. */
  ended: Latency;
  /** The same of the social connections, of all. */
  socialEnded: Latency;
}

export interface LoadResult extends LoadCounts {
  /** Until the last answer. */
  seconds: number;
  quarters: QuarterLatencies[];
}

export type FromLoad = { type: 'progress'; counts: LoadCounts } | { type: 'done'; result: LoadResult };
export type ToLoad = { type: 'start'; order: LoadOrder };

export type ToReceiver = { type: 'start'; host: string; key: string; cert: string } | { type: 'count' };
export type FromReceiver = { type: 'listening'; url: string } | { type: 'counted'; accepted: number };
