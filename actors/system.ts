import type { Logger } from '../storage/log/log.js';
import type { Origin } from '../storage/model/origin.js';
import type { OperationRow } from '../storage/model/records.js';

/**
 * The actor system as the edge sees it. Resource reads and writes of the edge go straight to storage; what needs
 * an owner goes through here. Rows are the truth: a hint only makes the owner read them now.
 */
export interface ActorSystem {
  /** Stores one operation through the committer of the connection's partition. Resolves after the commit. */
  submit(submission: Submission): Promise<SubmitOutcome>;
  /**
   * True when a submission of this connection would be refused now with `overloaded`, whoever sends it: nothing of it need be read.
   * Costs next to nothing.
   */
  crowded(connectionId: string): boolean;
  /** Sends a hint to the owner of the connection, on whichever node it is. Never throws; the hint may be lost. */
  hint(hint: Hint): void;
  /**
   * Resolves when the operation may have become awaitable (terminal, or waiting for the user), or after `timeout_ms` or less:
   * the caller reads the row and asks again. At once for operations that this node owns, and by a hint of their owner for others; a slow
   * poll covers hints that are lost. `after`: what `wakeUps` was before the row was read; 0 when it was read a moment ago.
   */
  awaitable(operation: AwaitedOperation, after: number, timeout_ms: number): Promise<void>;
  /** The number of the last wake-up of any operation. */
  readonly wakeUps: number;
  /** How the node is now, as `/readyz`, `/healthz` and the metrics report it. */
  status(): SystemStatus;
  log: Logger;
}

/** An operation that somebody waits for, with the status that was read of it last. */
export type AwaitedOperation = Pick<OperationRow, 'id' | 'connection_id' | 'status'>;

export interface Submission {
  workspaceId: string;
  connectionId: string;
  capability: string;
  /** Validated. */
  input: Record<string, unknown>;
  /** About what it takes, as text; absent: next to nothing. */
  input_bytes?: number;
  idempotencyKey: string;
  /** Absent: of no request. */
  origin?: Origin;
}

export type SubmitOutcome =
  | { kind: 'created'; operation: OperationRow }
  | { kind: 'replayed'; operationId: string }
  | { kind: 'conflict' | 'not_found' | 'encryption_key_unavailable' | 'draining' }
  /** What has too much to do already: this node, or the connection or workspace, of which too much is accepted and has not ended. */
  | { kind: 'overloaded'; what: 'node' | 'connection' | 'workspace' }
  /** The database or the thread failed in the middle: nothing is promised, the same key may be sent again. */
  | { kind: 'failed' };

/** A caller's code on its way to the attempt that waits for it; only ever in memory. */
export interface GivenCode {
  challengeId: string;
  code: string;
  /** Under which its row is marked while the code is on its way; absent where the provider itself ended the challenge. */
  mark?: string | undefined;
}

/** What travels between threads and nodes to an owner: it may be lost, because the rows hold the same and a poll finds it. */
export type Hint =
  /** Cancel was requested on a running or waiting operation; its row holds the request. */
  | { type: 'cancel'; connectionId: string; operationId: string }
  /** A code that its operation's row is marked for; only ever in memory, sealed when it crosses nodes. */
  | ({ type: 'code'; connectionId: string; operationId: string } & GivenCode)
  /** Health, credentials, region or subscriptions changed, or the connection is gone: re-read it, fence its session. */
  | { type: 'connection'; connectionId: string }
  /** A look was asked for (OPS-22). */
  | { type: 'look'; connectionId: string }
  /** The proxy of the connection's session is gone: re-read it; what runs may end. */
  | { type: 'unpinned'; connectionId: string }
  /** Jobs were added to these queues of the connection's partition. */
  | { type: 'operations' | 'deliveries'; connectionId: string };

export interface SystemStatus {
  state: 'starting' | 'running' | 'draining' | 'failed';
  partitions: number;
  actorThreads: number;
  browserThreads: number;
  /** What it needs to execute work and does not have now: leases that were renewed in time, and all of its threads. */
  lacks: NodeNeed[];
}

export type NodeNeed = 'leases' | 'actor_threads' | 'browser_threads';
