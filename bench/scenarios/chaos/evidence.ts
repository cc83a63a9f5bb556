import type { NodeExtremes } from './extremes/draw.js';

/** What a chaos run leaves for its checker: the clients', the network's and the receivers' logs, the rows at the end, and samples of the nodes. Times are milliseconds since 1970 on this machine's true clock. */
export interface Evidence {
  run: RunRecord;
  /** Each submission that a client made, however often it had to send it. */
  submissions: SubmissionRecord[];
  /** Each cancel that a client asked for and was answered. */
  cancels: { operation_id: string; at: number; status: number }[];
  /** Each status of an operation that a client was shown, where that was noted. */
  seen?: { operation_id: string; at: number; status: string }[];
  /** Each request of a client that got no answer. */
  lost?: LostAnswer[];
  /** The network's ledger: one for each write that it did. */
  ledger: LedgerRecord[];
  /** Each callback that a receiver got. */
  callbacks: CallbackRecord[];
  rows: Rows;
  /** Taken every few seconds, from each node that was up. */
  samples: NodeSample[];
  /** Found by the looks of the run. */
  orphans?: OrphanRecord[];
}

/** A live operation that two looks in a row found in nobody's hand. */
export interface OrphanRecord {
  operation_id: string;
  connection_id: string;
  status: string;
  /** The first and the last look that found it so. */
  from: number;
  to: number;
  /** The mark of its mailbox, which is above its id; null: it has no mailbox. */
  mark: string | null;
}

export interface RunRecord {
  seed: number;
  commit: string;
  nodes: number;
  started_at: number;
  /** The last fault was undone. */
  calm_at: number;
  /** The rows were read. */
  read_at: number;
  faults: FaultRecord[];
  /** What each node had other than usual. */
  extremes?: NodeExtremes[];
  /** How much later than usual the nodes may notice anything because of that. */
  patience_ms?: number;
  /** How long after `calm_at` operations went on ending, because the nodes were slow. */
  worked_off_ms?: number;
}

export interface FaultRecord {
  kind: string;
  /** The node, or what else it hit. */
  target: string;
  from: number;
  to: number;
}

export interface SubmissionRecord {
  key: string;
  connection_id: string;
  capability: string;
  /** A text found nowhere else, which the network's ledger shows for a social write; null for others. */
  marker: string | null;
  /** First sent, and first answered 200 or 202; null when it never was. */
  sent_at: number;
  accepted_at: number | null;
  operation_id: string | null;
  /** Every answer: 0 for none (connection lost, time-out). */
  answers: { node: number; at: number; status: number; operation_id: string | null; replayed: boolean }[];
  /**
   * Where its own words ask for another end than `succeeded` (`sim-fail-…`, `sim-unknown`, …): the statuses and codes of
   * failures that it may end with, though nothing fails.
   */
  expected?: string[];
}

export interface LostAnswer {
  node: number;
  at: number;
  request: string;
  /** No connection was to be had; one was lost; or the time of the client ran out. */
  how: 'refused' | 'reset' | 'late';
}

export interface LedgerRecord {
  account: string;
  kind: string;
  /** Contains the submission's marker. */
  text: string;
  /** The network did it. */
  at: number;
  /** The request reached the network, where that was noticeably earlier: it was kept by a `delay`. */
  received_at?: number;
}

export interface CallbackRecord {
  receiver: string;
  event_id: string;
  delivery_id: string;
  connection_id: string;
  at: number;
  /** What the receiver answered; 0 when it died first. */
  status: number;
  signature_valid: boolean;
}

/** Read from the database when it was calm. */
export interface Rows {
  /** The moment that they are of, on the database's clock; without it, `run.read_at`. */
  read_at?: number;
  operations: OperationRecord[];
  events: {
    id: string;
    connection_id: string;
    type: string;
    received_at: number;
    /** What made it; an event of a simulated operation names the operation. */
    provider_event_id?: string;
  }[];
  subscriptions: {
    id: string;
    /** Null: of all connections of the workspace. */
    connection_id: string | null;
    /** Of which subscription of the workspace this is the connection's part. */
    parent_id?: string | null;
    event_types: string[];
    active: boolean;
    created_at: number;
    callback_url: string;
  }[];
  deliveries: { id: string; subscription_id: string; event_id: string; status: string }[];
  /** Live pg-boss jobs by queue and state; `from`: the mark of a mailbox. */
  jobs: { queue: string; id: string; state: string; from?: string | null }[];
  /** Operations that own parts of a file. */
  file_parts: { operation_id: string; attempt_id: string }[];
  listeners: { connection_id: string; stream_status: string; heartbeat_at: number | null }[];
  partitions: { id: number; epoch: number; node_id: string | null; owned: boolean }[];
}

export interface OperationRecord {
  id: string;
  connection_id: string;
  capability: string;
  status: string;
  error_code: string | null;
  /** Of an unknown outcome: what its evidence says that ended it. */
  evidence_fault: string | null;
  idempotency_key: string;
  cancel_requested: boolean;
  created_at: number;
  updated_at: number;
  attempts: {
    id: string;
    number: number;
    status: string;
    phase: string;
    started_at: number;
    completed_at: number | null;
  }[];
  timeline: { from: string | null; to: string; reason: string; at: number }[];
}

export interface NodeSample {
  node: number;
  pid: number;
  at: number;
  rss_mib: number;
  handles: number;
  database_connections: number;
  contexts: number;
}
