import type { Boundary, StoredEvidence } from './evidence.js';

/**
 * The rows as the other folders see them, and the vocabularies of their fields
 * (contract: "Resources and their fields"). Timestamps are `Date`, sealed columns are `Buffer`.
 */

/** What stands behind a connection: `social`, an account at the provider; `simulated`, a synthetic account for testing. */
export type Provider = 'social' | 'simulated';
/**
 * Whether the connection can work: `ready`, its session works; `needs_login`, `social.login` has to make one; `invalid`, the
 * provider refuses the account or the session is another's, until a login or a change of credentials.
 */
export type Health = 'ready' | 'needs_login' | 'invalid';
/**
 * Whether recruiter reads work: `not_verified`, no contract was verified in this session; `ready`, one was; `needs_switch`,
 * `social.recruiter.switch` has to choose one.
 */
export type RecruiterHealth = 'not_verified' | 'ready' | 'needs_switch';

export interface ConnectionRow {
  id: string;
  workspace_id: string;
  partition: number;
  provider: Provider;
  username: string | null;
  actor_kind: string;
  actor_id: string | null;
  health: Health;
  state_revision: number;
  region: string | null;
  proxy_id: string | null;
  recruiter_health: RecruiterHealth;
  recruiter_reason: string | null;
  recruiter_contract: string | null;
  recruiter_verified_at: Date | null;
  recruiter_verified_revision: number | null;
  recruiter_operation_id: string | null;
  created_at: Date;
}

/**
 * Where an operation stands: `queued`, waits for its turn; `running`, works; `waiting_user`, waits for its challenge to be
 * answered; `succeeded`, done, with a result; `failed`, ended with an error code; `canceled`, ended on request before anything
 * left; `skipped`, nothing was left to do; `outcome_unknown`, a write may have happened, and nobody can prove it.
 */
export type OperationStatus =
  | 'queued'
  | 'running'
  | 'waiting_user'
  | 'succeeded'
  | 'failed'
  | 'canceled'
  | 'skipped'
  | 'outcome_unknown';

/**
 * How an attempt stands: `running`, it works; `succeeded`, it ended the operation well; `failed`, it failed; `abandoned`, it was
 * given up before anything left; `outcome_unknown`, its write may have happened.
 */
export type AttemptStatus = 'running' | 'succeeded' | 'failed' | 'abandoned' | 'outcome_unknown';

/**
 * The step that an attempt came to. A read is `reading` from its start. A write is `preparing` until its write boundary,
 * `dispatching` from there on, and ends as `confirming` when an answer came that is no success. Both are `done` with success.
 */
export type AttemptPhase = 'preparing' | 'reading' | 'dispatching' | 'confirming' | 'done';

export interface Attempt {
  id: string;
  state_revision: number;
  number: number;
  /** How it stands. */
  status: AttemptStatus;
  /** The step that it came to. */
  phase: AttemptPhase;
  started_at: string;
  completed_at: string | null;
  /** Once it passed its write boundary. */
  boundary?: Boundary;
}

export interface Transition {
  /** The status before, null of the first change. */
  from: OperationStatus | null;
  /** The status from then on. */
  to: OperationStatus;
  /** What led to it, such as `submitted`, `started`, `cancel_requested`, `no_proof`, a challenge's kind or an error code. */
  reason: string;
  at: string;
}

/**
 * What the provider asks the user for: `email`, `sms` and `authenticator`, a code from there; `approval`, that they approve the sign-in on
 * another device, after which the operation goes on by itself; `captcha`, a puzzle that nobody can answer here.
 */
export type ChallengeKind = 'email' | 'sms' | 'authenticator' | 'approval' | 'captcha';

/** Stored while an operation waits; `answered` and `tries` never leave the service. */
export interface Challenge {
  id: string;
  kind: ChallengeKind;
  expires_at: string;
  accepts_code: boolean;
  answered: boolean;
  tries: number;
}

export interface OperationRow {
  id: string;
  workspace_id: string;
  connection_id: string;
  capability: string;
  status: OperationStatus;
  /** JSON text, not sealed, or null; `resultTextOf` (operations.ts) gives either. */
  result: string | null;
  result_sealed: Buffer | null;
  error_code: string | null;
  error_details: Record<string, unknown> | null;
  /** Only of an unknown outcome. */
  evidence: StoredEvidence | null;
  challenge: Challenge | null;
  cancel_requested: boolean;
  attempts: Attempt[];
  timeline: Transition[];
  created_at: Date;
  updated_at: Date;
  /** Not sealed, or null; `lookOf` (looks.ts) gives either. */
  evidence_look: Record<string, unknown> | null;
  evidence_look_sealed: Buffer | null;
}

/**
 * What happened, of what a subscription selects: `message_received`, a message came in; `message_sent`, the account sent one;
 * `sponsored_inmail_received`, an advertisement came in; `custom_connection_request_accepted`, an invitation seems to be accepted;
 * `connection.stream_degraded`, the event stream was interrupted; `connection.stream_restored`, it runs again; `connection.needs_login`,
 * `connection.invalid` and `connection.ready`, the connection's health became that; `operation.waiting_user`, an operation waits for its
 * user; `operation.finished`, one has ended; `delivery.exhausted`, a delivery failed for the last time.
 */
export type EventType =
  | 'message_received'
  | 'message_sent'
  | 'sponsored_inmail_received'
  | 'custom_connection_request_accepted'
  | 'connection.stream_degraded'
  | 'connection.stream_restored'
  | 'connection.needs_login'
  | 'connection.invalid'
  | 'connection.ready'
  | 'operation.waiting_user'
  | 'operation.finished'
  | 'delivery.exhausted';

/** What the service tells of itself (EVT-20). */
export const OWN_EVENTS: readonly EventType[] = [
  ...(['connection.needs_login', 'connection.invalid', 'connection.ready'] as const),
  ...(['operation.waiting_user', 'operation.finished', 'delivery.exhausted'] as const),
];

/** Asked for by a client, for one subscription: no subscription selects it (EVT-19). */
export const TEST_EVENT = 'subscription.test';
/**
 * What happened: what a subscription selects, `message_received`, `message_sent`, `sponsored_inmail_received`,
 * `custom_connection_request_accepted`, `connection.stream_degraded`, `connection.stream_restored`, `connection.needs_login`,
 * `connection.invalid`, `connection.ready`, `operation.waiting_user`, `operation.finished` and `delivery.exhausted`; or
 * `subscription.test`, a client tries a subscription.
 */
export type RecordedEventType = EventType | typeof TEST_EVENT;

/** An event about to be recorded. `providerEventId` makes it unique within its connection. */
export interface NewEvent {
  connectionId: string;
  providerEventId: string;
  type: RecordedEventType;
  data: Record<string, unknown>;
  /** The trace of the operation that caused it, if one did. */
  traceparent?: string | null;
  /** The revision of the connection whose stream heard it: it is stored under this one alone (EVT-25). */
  heardUnder?: number;
}

export const DELIVERY_STATUSES: readonly DeliveryStatus[] = ['pending', 'sending', 'delivered', 'failed', 'canceled'];
/**
 * How a delivery stands: `pending`, waits for its next attempt; `sending`, an attempt is under way; `delivered`, the receiver
 * answered 2xx; `failed`, the last attempt of the series failed; `canceled`, its subscription was deactivated.
 */
export type DeliveryStatus = 'pending' | 'sending' | 'delivered' | 'failed' | 'canceled';
/**
 * How an attempt ended: `sending`, it has not; `delivered`, with 2xx; `failed`, with anything else or with silence; `canceled`,
 * its subscription was deactivated meanwhile; `abandoned`, its sender was lost.
 */
export type DeliveryAttemptOutcome = 'sending' | 'delivered' | 'failed' | 'canceled' | 'abandoned';

export const SCOPES = [
  'connections:read',
  'connections:write',
  'operations:read',
  'operations:write',
  'events:read',
  'events:write',
  'social:send',
] as const;
export type Scope = (typeof SCOPES)[number];

/** What only an operator of the installation may do, across its workspaces: no key of a workspace has it. */
export const OPERATOR = 'operator';
/**
 * What a request may be asked for: `connections:read` and `connections:write`, `operations:read` and `operations:write`, `events:read` and
 * `events:write`, to read and to change those of the workspace; `social:send`, to send in an account's name; `operator`, what spans
 * workspaces.
 */
export type Right = Scope | typeof OPERATOR;

export const PARTITIONS = 64;

/** The partition a connection belongs to: FNV-1a over the id, modulo 64; the same on every node, for ever. */
export function partitionOf(connectionId: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < connectionId.length; i++) hash = Math.imul(hash ^ connectionId.charCodeAt(i), 0x01000193);
  return (hash >>> 0) % PARTITIONS;
}
