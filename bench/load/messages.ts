import type { Distribution, Latency } from '../kit/latencies.js';

/** What one request does. `follow` submits, and then waits for the end with `Prefer: wait`. */
export type Kind = 'submit' | 'poll' | 'list' | 'follow';

/** What the load program is told to do, as one message. */
export interface LoadOrder {
  /** Of the nodes; each HTTP connection is to one of them, in turn. */
  urls: string[];
  key: string;
  /** Makes the idempotency keys of this run different from those of others. */
  run: string;
  /** The kinds of requests, one after the other and again from the first. */
  kinds: Kind[];
  /** Of submissions; each connection of the service is taken in turn. */
  body: string;
  connectionIds: string[];
  /** What is polled, before anything was submitted. */
  operationIds: string[];
  seconds: number;
  /** HTTP connections. Without `rate` each sends when it was answered. */
  clients: number;
  /** Requests a second, whatever the answers take. Each is timed from when it was due. */
  rate?: number;
  /**
   * With a rate: requests without an answer at once. Past it what is due is left out, and what is sent is timed from then: a service that
   * refuses is measured, not one that is late.
   */
  under_way?: number;
}

export interface KindResult extends Latency {
  distribution: Distribution;
}

/** What it answers with. */
export interface LoadResult {
  /** Good answers. */
  answered: number;
  /** From the first request to the last answer. */
  seconds: number;
  kinds: Partial<Record<Kind, KindResult>>;
  /** Answers 503. */
  refused: { without_retry_after: number } & Latency;
  /** Every other outcome, by status or kind. */
  errors: Record<string, number>;
  /** Due while too many were under way: nothing was sent. */
  left_out: number;
  /** Good answers of each quarter of a second. */
  timeline: number[];
  /** Processor time of the program itself. */
  cpu_ms: number;
  /** Of `follow`: the operation's end (`updated_at`) to the answer. Only of those that were waiting by then. */
  woken?: KindResult;
  /** Operations that had ended before their wait began. */
  ended_before: number;
}

export type FromLoad = { type: 'progress'; answered: number } | { type: 'done'; result: LoadResult };
