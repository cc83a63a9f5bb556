import typia from 'typia';
import type { CapabilityName } from '../../../actors/capabilities/catalogue.js';
import type { PersonId } from '../../../browser-pool/contract/fields.js';
import type { Health, RecordedEventType } from '../../../storage/model/records.js';
import type { Count, Timestamp, Uuid } from '../../http/fields.js';
import type { ChallengeJson } from '../operations/operation-parts.js';

/** Event in a list (contract: "Event"). */
export interface EventSummaryJson {
  /** Id of the event: `GET /v1/events/{event_id}` reads it, and receivers dedupe by it. */
  id: Uuid;
  /** The provider's own name for it, unique within the connection. */
  provider_event_id: string;
  /** What happened. */
  type: RecordedEventType;
  /** When the service recorded it. */
  received_at: Timestamp;
  /** Your own id of the connection; absent without one. One event has it in the header `X-CS-Connection-Reference`, as callbacks do. */
  connection_reference?: string;
}

/** What every event has, whatever its type. */
interface EventBase extends Omit<EventSummaryJson, 'type' | 'connection_reference'> {
  /** The connection that it happened on. */
  connection_id: Uuid;
}

/** A message came in. */
export interface MessageReceivedEventJson extends EventBase {
  /** Always `message_received`. */
  type: 'message_received';
  /** The message. */
  data: EventMessageJson;
}

/** The account sent a message, by this service or elsewhere. */
export interface MessageSentEventJson extends EventBase {
  /** Always `message_sent`. */
  type: 'message_sent';
  /** The message. */
  data: EventMessageJson;
}

/** An advertisement came into the inbox. */
export interface SponsoredInmailReceivedEventJson extends EventBase {
  /** Always `sponsored_inmail_received`. */
  type: 'sponsored_inmail_received';
  /** The advertisement. */
  data: EventInmailJson;
}

/**
 * Somebody seems to have accepted the account's invitation. The provider also says so of other changes: look at the profile before
 * you take it for a proof.
 */
export interface CustomConnectionRequestAcceptedEventJson extends EventBase {
  /** Always `custom_connection_request_accepted`. */
  type: 'custom_connection_request_accepted';
  /** Who accepted. */
  data: EventAcceptanceJson;
}

/** The event stream of the connection was interrupted: what happens until it runs again may not become an event. */
export interface StreamDegradedEventJson extends EventBase {
  /** Always `connection.stream_degraded`. */
  type: 'connection.stream_degraded';
  /** The gap that began. */
  data: EventGapJson;
}

/** The event stream of the connection runs again. Look for what happened meanwhile with reads of conversations and messages. */
export interface StreamRestoredEventJson extends EventBase {
  /** Always `connection.stream_restored`. */
  type: 'connection.stream_restored';
  /** The gap that ended. */
  data: EventGapJson;
}

/** The connection has no session any more, or never had one: nothing runs on it until `social.login` succeeds. */
export interface NeedsLoginEventJson extends EventBase {
  /** Always `connection.needs_login`. */
  type: 'connection.needs_login';
  /** What changed. */
  data: EventHealthJson;
}

/** The provider refuses the account, or the session is another's. */
export interface InvalidEventJson extends EventBase {
  /** Always `connection.invalid`. */
  type: 'connection.invalid';
  /** What changed. */
  data: EventHealthJson;
}

/** The connection can work. */
export interface ReadyEventJson extends EventBase {
  /** Always `connection.ready`. */
  type: 'connection.ready';
  /** What changed. */
  data: EventHealthJson;
}

/** An operation waits for its user. */
export interface WaitingUserEventJson extends EventBase {
  /** Always `operation.waiting_user`. */
  type: 'operation.waiting_user';
  /** What it waits for. */
  data: EventChallengeJson;
}

/** An operation has ended. It is recorded while a subscription selects it, and is in no list otherwise. */
export interface FinishedEventJson extends EventBase {
  /** Always `operation.finished`. */
  type: 'operation.finished';
  /** How it ended. */
  data: EventEndJson;
}

/** A delivery failed for the last time. It is recorded while a subscription selects it, and not of a delivery of such an event. */
export interface ExhaustedEventJson extends EventBase {
  /** Always `delivery.exhausted`. */
  type: 'delivery.exhausted';
  /** Which delivery, and of what. */
  data: EventExhaustionJson;
}

/** A client asked for it, to try one subscription: only that one gets it, whatever it selects. */
export interface TestEventJson extends EventBase {
  /** Always `subscription.test`. */
  type: 'subscription.test';
  /** Whose test it is. */
  data: EventTestJson;
}

/** Event in detail, and the body of a callback: `type` tells what `data` holds. */
export type EventJson =
  | MessageReceivedEventJson
  | MessageSentEventJson
  | SponsoredInmailReceivedEventJson
  | CustomConnectionRequestAcceptedEventJson
  | StreamDegradedEventJson
  | StreamRestoredEventJson
  | NeedsLoginEventJson
  | InvalidEventJson
  | ReadyEventJson
  | WaitingUserEventJson
  | FinishedEventJson
  | ExhaustedEventJson
  | TestEventJson;

/** A message of an event. One of the stream has all of these; one that a client recorded has what it gave. */
export interface EventMessageJson {
  /** Conversation that it stands in. */
  conversation_id?: string;
  /** Its URN, unique at the provider. */
  message_urn?: string;
  /** Its text, null when the provider does not show it. */
  message_body?: string | null;
  /** Hash id of who wrote it, null when the provider does not show it. */
  sender_hash_id?: PersonId | null;
  /** Name of who wrote it, null when the provider does not show it. */
  sender_name?: string | null;
  /** Hash ids of who gets it. */
  recipient_hash_ids?: PersonId[];
  /** When it was delivered, in decimal milliseconds; null when the provider does not say. */
  delivered_at?: number | null;
  /** Content of attachments and rich messages; absent when there is none. */
  render_content?: Record<string, unknown>[];
}

/** An advertisement of an event. One of the stream has all of these; one that a client recorded has what it gave. */
export interface EventInmailJson {
  /** Conversation that it stands in. */
  conversation_id?: string;
  /** Its URN, unique at the provider. */
  message_urn?: string;
  /** Who pays for it, null when the provider does not show it. */
  sponsor?: string | null;
  /** Its subject, null when the provider does not show it. */
  subject?: string | null;
  /** Its text, null when the provider does not show it. */
  message_body?: string | null;
  /** When it was delivered, in decimal milliseconds; null when the provider does not say. */
  delivered_at?: number | null;
}

/** An acceptance of an event. One of the stream has all of these; one that a client recorded has what it gave. */
export interface EventAcceptanceJson {
  /** Hash id of who accepted. */
  hash_id?: PersonId;
  /** Public slug of their profile, null when the provider does not show it. */
  public_id?: PersonId | null;
  /** Their name, null when the provider does not show it. */
  name?: string | null;
  /** When they accepted, in decimal milliseconds; null when the provider does not say. */
  accepted_at?: number | null;
}

/** A gap of an event. One of the stream has all of these; one that a client recorded has what it gave. */
export interface EventGapJson {
  /** Id of the gap, as the listener shows it. */
  gap_id?: string;
  /** Why the stream was interrupted; null when it runs again. */
  reason?: string | null;
  /** `provider_event_id` of the last event before the gap; null when there is none. */
  last_event_id?: string | null;
}

/** A change of a connection's health. One of the service has all of these; one that a client recorded has what it gave. */
export interface EventHealthJson {
  /** What it is now. */
  health?: Health;
  /** What it was before: `needs_login`, `ready` or `invalid`; null of a connection that has just been created. */
  previous_health?: Health | null;
  /** What led to it, as `health_reason` of the connection. */
  reason?: string | null;
  /** Generation of the session from then on. */
  state_revision?: Count;
}

/** An operation that waits. One of the service has all of these; one that a client recorded has what it gave. */
export interface EventChallengeJson {
  /** The operation. */
  operation_id?: Uuid;
  /** The capability that was submitted. */
  capability?: CapabilityName;
  /** What it waits for, as the operation has it. */
  challenge?: ChallengeJson;
}

/** An operation that ended. One of the service has all of these; one that a client recorded has what it gave. */
export interface EventEndJson {
  /** The operation: read it for its result. */
  operation_id?: Uuid;
  /** The capability that was submitted. */
  capability?: CapabilityName;
  /** How it ended, as `status` of the operation. */
  status?: string;
  /** Why it failed; null when it did not. */
  error_code?: string | null;
}

/** A delivery that failed. One of the service has all of these; one that a client recorded has what it gave. */
export interface EventExhaustionJson {
  /** The delivery: it can be replayed. */
  delivery_id?: Uuid;
  /** The subscription that did not get the event. */
  subscription_id?: Uuid;
  /** The event. */
  event_id?: Uuid;
  /** What happened, as `type` of the event. */
  event_type?: string;
  /** How many attempts were made. */
  attempt_count?: Count;
  /** Why the last one failed, as `last_error` of the delivery. */
  last_error?: string | null;
}

/** The subscription of a test event. */
export interface EventTestJson {
  /** Id of the subscription that the test was asked for. */
  subscription_id: Uuid;
}

/** Also the body of a callback. */
export const eventSchema = typia.json.schemas<[EventJson]>();
