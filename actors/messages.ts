import type { MessagePort } from 'node:worker_threads';
import type { Tallied } from '../storage/overview/tally.js';
import type { PartitionMeasures } from '../storage/partitions/measures.js';
import type { PoolStats } from '../storage/postgres/database.js';
import type { ThreadDeliveryStats } from './deliveries/deliveries.js';
import type { OperationCounts } from './operations/operation-counters.js';
import type { Hint, Submission, SubmitOutcome } from './system.js';

/** The messages between the main thread and an actor host, in batched envelopes. */

/** To an actor host. */
export type ToHost =
  | { type: 'submit'; request: number; submission: Submission }
  | { type: 'hint'; hint: Hint }
  /** These partitions are this thread's now, recovered, under these epochs. */
  | { type: 'own'; partitions: { id: number; epoch: number }[] }
  /** Start nothing more of these. With `fenced` they are lost already: drop them at once. Answered by `disowned` when nothing of them runs. */
  | { type: 'disown'; partitions: number[]; fenced: boolean }
  /** These partitions, which this thread runs, were taken again under these epochs, all but what it had in hand recovered. */
  | { type: 'renewed'; partitions: { id: number; epoch: number }[] }
  /** Hints may have been missed: look at everything that a hint would have shown. */
  | { type: 'poll' }
  /** The channel to a browser host, at start and whenever its thread was replaced. The port is transferred. */
  | { type: 'browser'; index: number; port: MessagePort }
  /** Accept no more submissions. Answered by `drained` when nothing runs any more. */
  | { type: 'drain' }
  /** Chaos only: throws outside every actor, which ends the thread; or never answers again. */
  | { type: 'crash' | 'hang' };

/** From an actor host. */
export type FromHost =
  | { type: 'submitted'; request: number; outcome: SubmitOutcome }
  /** These operations became terminal or wait for the user. */
  | { type: 'awaitable'; operationIds: string[] }
  /** To the owner of a partition that is not this thread's. */
  | { type: 'hint'; hint: Hint }
  /** What happened in workspaces since the last of these. */
  | { type: 'tallied'; tallied: Tallied }
  | { type: 'disowned'; partitions: number[] }
  /** What this thread has in hand of the partition may not be what its rows say: it is to be taken again, but for these operations. */
  | { type: 'reconcile'; partition: number; epoch: number; inHand: string[] }
  | { type: 'drained' }
  /** The thread cannot reach the database any more, for this reason; without one: it can again. */
  | { type: 'database'; lost: string | undefined }
  | { type: 'stats'; stats: HostStats };

/** One thread's counters since it started, and what it holds now. */
export interface HostStats extends OperationCounts {
  connections: number;
  queued: number;
  running: number;
  waiting_user: number;
  /** Connections whose mailboxes take no more. */
  full_mailboxes: number;
  /** How long the oldest operation in a mailbox has waited since it was accepted; 0 without one. */
  oldest_queued_s: number;
  /** Workspaces of which much is queued or running, with how much; and connections whose mailboxes are full. */
  backlogs: [id: string, operations: number][];
  listeners: number;
  /** Gaps of streams that this thread opened, by reason. */
  gaps: Record<string, number>;
  deliveries: ThreadDeliveryStats;
  /** What the rows of its partitions say, as last read; undefined until then. */
  measured: PartitionMeasures | undefined;
  /** Its pools. */
  database: Record<'actors' | 'actors_relaxed', PoolStats>;
  loop_lag_s: number;
}
