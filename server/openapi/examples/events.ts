import { CONVERSATION_ID, HASH_ID } from '../../../actors/capabilities/example-values.js';
import type { ListenerJson } from '../../routes/connections/listener.js';
import type { EventJson, EventSummaryJson } from '../../routes/subscriptions/event-json.js';
import type { EventsJson, SimulatedEventInput } from '../../routes/subscriptions/events.js';
import {
  AT,
  BEGUN,
  CHALLENGE,
  CONNECTION,
  DELIVERY,
  EVENT,
  EXPIRY,
  GAP,
  LATER,
  LATEST,
  OPERATION,
  OWN_HASH_ID,
  REFERENCE,
  SUBSCRIPTION,
} from './values.js';

/** An event of each type, and the stream that they come from. */

const MESSAGE = {
  conversation_id: CONVERSATION_ID,
  message_urn: 'urn:social:message:1',
  message_body: 'Hello Ada',
  sender_hash_id: HASH_ID,
  sender_name: 'Grace Hopper',
  recipient_hash_ids: [OWN_HASH_ID],
  delivered_at: Date.parse(AT),
};
const FILE = { type: 'file', filename: 'notes.txt', content_type: 'text/plain', size: 5 };

const common = { id: EVENT, received_at: BEGUN, connection_id: CONNECTION };

export const received: Extract<EventJson, { type: 'message_received' }> = {
  ...common,
  provider_event_id: 'message-1',
  type: 'message_received',
  data: MESSAGE,
};

/** By the type of event. */
export const events: { readonly [Type in EventJson['type']]: Extract<EventJson, { type: Type }> } = {
  message_received: received,
  message_sent: {
    ...common,
    provider_event_id: 'message-2',
    type: 'message_sent',
    data: {
      ...MESSAGE,
      message_urn: 'urn:social:message:2',
      message_body: 'Hello Grace',
      sender_hash_id: OWN_HASH_ID,
      sender_name: 'Ada Lovelace',
      recipient_hash_ids: [HASH_ID],
      render_content: [FILE],
    },
  },
  sponsored_inmail_received: {
    ...common,
    provider_event_id: 'inmail-1',
    type: 'sponsored_inmail_received',
    data: {
      conversation_id: '2-Sponsor',
      message_urn: 'urn:social:message:4',
      sponsor: 'Analytical Engines',
      subject: 'We are looking for you',
      message_body: 'Would you like to calculate with us?',
      delivered_at: Date.parse(AT),
    },
  },
  custom_connection_request_accepted: {
    ...common,
    provider_event_id: 'accepted-1',
    type: 'custom_connection_request_accepted',
    data: {
      hash_id: HASH_ID,
      public_id: 'grace-hopper',
      name: 'Grace Hopper',
      accepted_at: Date.parse(AT),
    },
  },
  'connection.stream_degraded': {
    ...common,
    provider_event_id: `connection.stream_degraded/${GAP}`,
    type: 'connection.stream_degraded',
    data: { gap_id: GAP, reason: 'connection_lost', last_event_id: 'message-1' },
  },
  'connection.stream_restored': {
    ...common,
    provider_event_id: `connection.stream_restored/${GAP}`,
    type: 'connection.stream_restored',
    data: { gap_id: GAP, reason: null, last_event_id: 'message-1' },
  },
  'connection.needs_login': {
    ...common,
    provider_event_id: 'connection.needs_login/01998000-0000-7000-8000-000000000021',
    type: 'connection.needs_login',
    data: { health: 'needs_login', previous_health: 'ready', reason: 'authentication_failed', state_revision: 1 },
  },
  'connection.invalid': {
    ...common,
    provider_event_id: 'connection.invalid/01998000-0000-7000-8000-000000000022',
    type: 'connection.invalid',
    data: { health: 'invalid', previous_health: 'ready', reason: 'provider_restricted', state_revision: 1 },
  },
  'connection.ready': {
    ...common,
    provider_event_id: 'connection.ready/01998000-0000-7000-8000-000000000023',
    type: 'connection.ready',
    data: { health: 'ready', previous_health: 'needs_login', reason: 'login_succeeded', state_revision: 1 },
  },
  'operation.waiting_user': {
    ...common,
    provider_event_id: `operation.waiting_user/${CHALLENGE}`,
    type: 'operation.waiting_user',
    data: {
      operation_id: OPERATION,
      capability: 'social.login',
      challenge: { id: CHALLENGE, kind: 'sms', expires_at: EXPIRY, accepts_code: true },
    },
  },
  'operation.finished': {
    ...common,
    provider_event_id: `operation.finished/${OPERATION}`,
    type: 'operation.finished',
    data: { operation_id: OPERATION, capability: 'social.message.send', status: 'succeeded', error_code: null },
  },
  'delivery.exhausted': {
    ...common,
    provider_event_id: `delivery.exhausted/${DELIVERY}/0`,
    type: 'delivery.exhausted',
    data: {
      ...{ delivery_id: DELIVERY, subscription_id: SUBSCRIPTION, event_id: EVENT, event_type: 'message_received' },
      ...{ attempt_count: 5, last_error: 'timeout' },
    },
  },
  'subscription.test': {
    ...common,
    provider_event_id: 'test-01998000-0000-7000-8000-000000000020',
    type: 'subscription.test',
    data: { subscription_id: SUBSCRIPTION },
  },
};

export const summary: EventSummaryJson = {
  id: EVENT,
  provider_event_id: 'message-1',
  type: 'message_received',
  received_at: BEGUN,
  connection_reference: REFERENCE,
};
export const list: EventsJson = { next_offset: null, events: [summary] };
export const simulatedEvent: SimulatedEventInput = { type: 'message_received', data: MESSAGE };

export const listener: ListenerJson = {
  stream_status: 'connected',
  connection_health: 'ready',
  continuity_status: 'continuous',
  open_gap_count: 0,
  last_frame_at: LATEST,
  last_confirmed_at: LATEST,
  status: 'running',
  reason: null,
  last_event_id: 'message-1',
  last_event_at: BEGUN,
  heartbeat_at: LATEST,
  gaps: [{ id: GAP, reason: 'connection_lost', last_event_id: 'message-1', started_at: BEGUN, closed_at: LATER }],
};
