/**
 * The rows as the other folders see them, and the vocabularies of their fields
 * (contract: "Resources and their fields"). Timestamps are `Date`, sealed columns are `Buffer`.
 */

export type Provider = 'social' | 'simulated';
export type Health = 'ready' | 'needs_login' | 'invalid';
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

export type OperationStatus =
  | 'queued'
  | 'running'
  | 'waiting_user'
  | 'succeeded'
  | 'failed'
  | 'canceled'
  | 'skipped'
  | 'outcome_unknown';

export type AttemptStatus = 'running' | 'succeeded' | 'failed' | 'abandoned' | 'outcome_unknown';

/** How far an attempt came; `write-boundary.ts` has what follows from it. */
export type AttemptPhase = 'preparing' | 'reading' | 'dispatching' | 'confirming' | 'done';

export interface Attempt {
  id: string;
  state_revision: number;
  number: number;
  status: AttemptStatus;
  phase: AttemptPhase;
  started_at: string;
  completed_at: string | null;
}

export interface Transition {
  from: OperationStatus | null;
  to: OperationStatus;
  reason: string;
  at: string;
}

export type ChallengeKind = 'email' | 'sms' | 'authenticator' | 'captcha';

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
  result: Record<string, unknown> | null;
  error_code: string | null;
  error_details: Record<string, unknown> | null;
  challenge: Challenge | null;
  cancel_requested: boolean;
  attempts: Attempt[];
  timeline: Transition[];
  created_at: Date;
  updated_at: Date;
}

export type EventType =
  | 'message_received'
  | 'message_sent'
  | 'sponsored_inmail_received'
  | 'custom_connection_request_accepted'
  | 'connection.stream_degraded'
  | 'connection.stream_restored';

/** An event about to be recorded. `providerEventId` makes it unique within its connection. */
export interface NewEvent {
  connectionId: string;
  providerEventId: string;
  type: EventType;
  data: Record<string, unknown>;
}

export const DELIVERY_STATUSES = ['pending', 'sending', 'delivered', 'failed', 'canceled'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];
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

export const PARTITIONS = 64;

/** The partition a connection belongs to: FNV-1a over the id, modulo 64; the same on every node, for ever. */
export function partitionOf(connectionId: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < connectionId.length; i++) hash = Math.imul(hash ^ connectionId.charCodeAt(i), 0x01000193);
  return (hash >>> 0) % PARTITIONS;
}
