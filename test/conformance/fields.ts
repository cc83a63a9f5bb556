/** The exact fields of each resource (contract: "Resources and their fields"). */

export const CONNECTION = [
  'id',
  'provider',
  'external_actor',
  'health',
  'health_reason',
  'health_since',
  'created_at',
  'reference',
  'labels',
  'capabilities',
  'state_revision',
];
/** "The last five fields appear on provider `social` responses." */
export const SOCIAL_CONNECTION = [
  ...CONNECTION,
  'account_hint',
  'region',
  'regional_proxy_configured',
  'session_proxy',
  'recruiter',
];
export const RECRUITER = ['health', 'reason', 'contract', 'verified_at', 'verified_session_revision', 'operation_id'];
export const OPERATION = [
  'id',
  'connection_id',
  'capability',
  'status',
  'result',
  'error_code',
  'error_details',
  'evidence',
  'challenge',
  'cancel_requested',
  'created_at',
  'updated_at',
  'attempts',
  'timeline',
];
export const ATTEMPT = [
  'id',
  'state_revision',
  'number',
  'status',
  'phase',
  'started_at',
  'completed_at',
  'boundary_at',
];
export const EVIDENCE = ['boundary_at', 'request', 'answer', 'fault', 'worker', 'look'];
export const WORKER = ['node_id', 'thread', 'attempt_id'];
export const TIMELINE = ['from', 'to', 'reason', 'at'];
export const CHALLENGE = ['id', 'kind', 'expires_at', 'accepts_code'];
export const SUBSCRIPTION = [
  'id',
  'connection_id',
  'event_types',
  'callback_url',
  'active',
  'on_hold',
  'settling',
  'verified',
  'created_at',
  'paused',
];
export const EVENT_ITEM = ['id', 'provider_event_id', 'type', 'received_at'];
export const EVENT = [...EVENT_ITEM, 'connection_id', 'data'];
export const DELIVERY = [
  'id',
  'subscription_id',
  'event_id',
  'event_type',
  'received_at',
  'status',
  'attempt_count',
  'replay_count',
  'next_attempt_at',
  'delivered_at',
  'last_error',
];
export const DELIVERY_ATTEMPT = ['id', 'sequence', 'outcome', 'status_code', 'error', 'started_at', 'completed_at'];
export const LISTENER = [
  'stream_status',
  'connection_health',
  'continuity_status',
  'open_gap_count',
  'last_frame_at',
  'last_confirmed_at',
  'status',
  'reason',
  'last_event_id',
  'last_event_at',
  'heartbeat_at',
  'gaps',
];

/** ISO 8601 in UTC with milliseconds (HTTP-16). */
export const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
