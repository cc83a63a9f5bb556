import type { MessagePort } from 'node:worker_threads';
import type { ThreadDeliveryStats } from './deliveries/deliveries.js';
import type { Hint, Submission, SubmitOutcome } from './system.js';

/** What the main thread and an actor host say to each other, in batched envelopes. */

export type ToHost =
  | { type: 'submit'; request: number; submission: Submission }
  | { type: 'signal'; signal: Hint }
  /** These partitions are this thread's now, recovered, under these epochs. */
  | { type: 'own'; partitions: { id: number; epoch: number }[] }
  /** Start nothing more of these. With `fenced` they are lost already: drop at once; else answer `disowned` when idle. */
  | { type: 'disown'; partitions: number[]; fenced: boolean }
  /** The line to a browser host, at start and whenever its thread was replaced. The port is transferred. */
  | { type: 'browser'; index: number; port: MessagePort }
  /** Submissions are over; answer `drained` when nothing runs any more. */
  | { type: 'drain' }
  /** Chaos only: throws outside every actor, which ends the thread. */
  | { type: 'crash' };

export type FromHost =
  | { type: 'submitted'; request: number; outcome: SubmitOutcome }
  /** These operations became terminal or wait for the user. */
  | { type: 'settled'; operationIds: string[] }
  /** For a partition of another thread or node. */
  | { type: 'signal'; signal: Hint }
  | { type: 'disowned'; partitions: number[] }
  | { type: 'drained' }
  | { type: 'stats'; stats: HostStats };

/** One thread's counters since it started, and what it holds now. */
export interface HostStats {
  submitted: number;
  started: number;
  finished: Record<string, number>;
  connections: number;
  queued: number;
  running: number;
  listeners: number;
  deliveries: ThreadDeliveryStats;
}
