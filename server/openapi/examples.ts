import { messageSend } from '../../actors/capabilities/sending.js';
import { login } from '../../actors/capabilities/session.js';
import type { ConnectionPatchInput } from '../routes/connection-changes.js';
import type { ConnectionJson } from '../routes/connection-json.js';
import type { NewConnectionInput } from '../routes/connections.js';
import type { DeliveryDetailJson, DeliveryJson, ReplayedJson, ReplayFailedInput } from '../routes/deliveries.js';
import type { EventJson, EventSummaryJson, SimulatedEventInput } from '../routes/events.js';
import type { InvitationInput, InvitationQueuedJson, InvitationSentJson } from '../routes/invitations.js';
import type { ListenerJson } from '../routes/listener.js';
import type { ChallengeInput } from '../routes/operation-actions.js';
import type { OperationJson } from '../routes/operation-json.js';
import type { RotatedSecretJson, SubscriptionPatchInput } from '../routes/subscription-changes.js';
import type { NewSubscriptionJson, SubscriptionDetailJson, SubscriptionJson } from '../routes/subscription-json.js';
import type { NewSubscriptionInput } from '../routes/subscriptions.js';

/** One value of each component that a reader wants to see filled in; they fit together and hold each other's ids. */

const CONNECTION = '01998000-0000-7000-8000-000000000001';
const OPERATION = '01998000-0000-7000-8000-000000000002';
const SUBSCRIPTION = '01998000-0000-7000-8000-000000000003';
const EVENT = '01998000-0000-7000-8000-000000000004';
const DELIVERY = '01998000-0000-7000-8000-000000000005';
const ATTEMPT = '01998000-0000-7000-8000-000000000006';
const CHALLENGE = '01998000-0000-7000-8000-000000000007';
const AT = '2026-01-01T12:00:00.000Z';
const LATER = '2026-01-01T12:00:01.250Z';
const SECRET = 'a-signing-secret-of-32-characters';

const operation: OperationJson = {
  id: OPERATION,
  connection_id: CONNECTION,
  capability: messageSend.name,
  status: 'succeeded',
  result: { ...messageSend.example.result },
  error_code: null,
  error_details: null,
  challenge: null,
  cancel_requested: false,
  created_at: AT,
  updated_at: LATER,
  attempts: [
    {
      id: ATTEMPT,
      state_revision: 1,
      number: 1,
      status: 'succeeded',
      phase: 'done',
      started_at: AT,
      completed_at: LATER,
    },
  ],
  timeline: [
    { from: null, to: 'queued', reason: 'submitted', at: AT },
    { from: 'queued', to: 'running', reason: 'started', at: AT },
    { from: 'running', to: 'succeeded', reason: 'succeeded', at: LATER },
  ],
};

const connection: ConnectionJson = {
  id: CONNECTION,
  provider: 'social',
  external_actor: { kind: 'person', id: 'ACoAAAda1' },
  health: 'ready',
  capabilities: [login.name, messageSend.name],
  state_revision: 1,
  region: 'DE',
  regional_proxy_configured: true,
  session_proxy: { id: ATTEMPT, region: 'DE', active: true, matches_region: true },
  recruiter: {
    health: 'not_verified',
    reason: null,
    contract: null,
    verified_at: null,
    verified_session_revision: null,
    operation_id: null,
  },
};

const subscription: SubscriptionJson = {
  id: SUBSCRIPTION,
  connection_id: CONNECTION,
  event_types: ['message_received'],
  callback_url: 'https://hooks.example.com/events',
  active: true,
  created_at: AT,
};

const eventSummary: EventSummaryJson = {
  id: EVENT,
  provider_event_id: 'message-1',
  type: 'message_received',
  received_at: AT,
};

const event: EventJson = { ...eventSummary, connection_id: CONNECTION, data: { message_body: 'Hello Ada' } };

const delivery: DeliveryJson = {
  id: DELIVERY,
  subscription_id: SUBSCRIPTION,
  event_id: EVENT,
  status: 'delivered',
  attempt_count: 1,
  replay_count: 0,
  next_attempt_at: null,
  delivered_at: LATER,
  last_error: null,
};

const deliveryDetail: DeliveryDetailJson = {
  ...delivery,
  attempts: [
    {
      id: ATTEMPT,
      sequence: 1,
      outcome: 'delivered',
      status_code: 204,
      error: null,
      started_at: AT,
      completed_at: LATER,
    },
  ],
};

const social: NewConnectionInput = {
  provider: 'social',
  username: 'ada@example.com',
  password: 'sandbox',
  region: 'DE',
};
const simulated: NewConnectionInput = { provider: 'simulated', external_actor: { kind: 'person', id: 'ada' } };

const newSubscription: NewSubscriptionInput = {
  event_types: ['message_received'],
  callback_url: 'https://hooks.example.com/events',
  secret: SECRET,
};

const listener: ListenerJson = {
  stream_status: 'connected',
  connection_health: 'ready',
  continuity_status: 'continuous',
  open_gap_count: 0,
  last_frame_at: LATER,
  last_confirmed_at: LATER,
  status: 'running',
  reason: null,
  last_event_id: 'message-1',
  last_event_at: AT,
  heartbeat_at: LATER,
  gaps: [{ id: ATTEMPT, reason: 'stream_dropped', last_event_id: null, started_at: AT, closed_at: LATER }],
};

/** By the component's name in the document. */
export const EXAMPLES: Readonly<Record<string, unknown[]>> = {
  Operation: [operation],
  Connection: [connection],
  NewSocialInput: [social],
  NewSimulatedInput: [simulated],
  NewConnectionInput: [simulated, social],
  ConnectionPatchInput: [{ region: 'FR' } satisfies ConnectionPatchInput],
  ChallengeInput: [{ challenge_id: CHALLENGE, code: '000000' } satisfies ChallengeInput],
  InvitationInput: [{ hash_id: 'ACoAAGrace1', message: 'Shall we connect?' } satisfies InvitationInput],
  InvitationSent: [{ data: { result: { code: 'sent', message: 'Invitation sent' } } } satisfies InvitationSentJson],
  InvitationQueued: [{ data: { operation_id: OPERATION, status: 'queued' } } satisfies InvitationQueuedJson],
  Subscription: [subscription],
  NewSubscription: [{ ...subscription, secret: SECRET } satisfies NewSubscriptionJson],
  SubscriptionDetail: [
    {
      ...subscription,
      delivery_counts: { pending: 0, sending: 0, delivered: 1, failed: 0, canceled: 0 },
    } satisfies SubscriptionDetailJson,
  ],
  NewSubscriptionInput: [newSubscription],
  SubscriptionPatchInput: [{ active: false } satisfies SubscriptionPatchInput],
  RotatedSecret: [{ secret: SECRET, previous_valid_until: AT } satisfies RotatedSecretJson],
  Listener: [listener],
  EventSummary: [eventSummary],
  Event: [event],
  SimulatedEventInput: [
    { type: 'message_received', data: { message_body: 'Hello Ada' } } satisfies SimulatedEventInput,
  ],
  Delivery: [delivery],
  DeliveryDetail: [deliveryDetail],
  ReplayFailedInput: [{ since: AT } satisfies ReplayFailedInput],
  Replayed: [{ replayed: 3 } satisfies ReplayedJson],
};
