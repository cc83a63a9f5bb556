import type { EventSourceMessage } from 'eventsource-parser';
import typia, { type tags } from 'typia';
import type { EventType } from '../../../storage/model/records.js';
import type { Milliseconds } from '../site/answers.js';

/** What happened on the account, in the service's words; `providerEventId` is the same when it comes twice. */
export interface ProviderEvent {
  providerEventId: string;
  type: EventType;
  data: Record<string, unknown>;
}

/** A frame of the event stream as its reader needs it. */
export type StreamFrame =
  | { type: 'connected' }
  | { type: 'heartbeat' }
  | { type: 'goodbye'; reason: string }
  | { type: 'event'; event: ProviderEvent }
  /** A kind of frame or activity that means nothing here. */
  | { type: 'ignored' }
  /** A known kind, or none, with unfamiliar content: something happened and it is not known what. */
  | { type: 'unreadable' };

interface MessagePayload {
  conversationId: string;
  messageUrn: string;
  senderHashId: string;
  senderName: string;
  recipientHashIds: string[];
  body: string;
  deliveredAt: Milliseconds;
  renderContent: Record<string, unknown>[];
}

/** One that stands for nothing else; what PostgreSQL cannot store in a text is no part of an id. */
type ActivityId = string & tags.Pattern<'^[^\\u0000-\\u001f]{1,255}$'>;

type Activity =
  | { id: ActivityId; type: 'message_received' | 'message_sent'; payload: MessagePayload }
  | {
      id: ActivityId;
      type: 'sponsored_inmail_received';
      payload: {
        conversationId: string;
        messageUrn: string;
        sponsor: string;
        subject: string;
        body: string;
        deliveredAt: Milliseconds;
      };
    }
  | {
      id: ActivityId;
      type: 'custom_connection_request_accepted';
      payload: { hashId: string; publicId: string; name: string; acceptedAt: Milliseconds };
    };

const isActivity = typia.createIs<Activity>();
const isOther = typia.createIs<{ type: string }>();
const KNOWN: ReadonlySet<string> = new Set<Activity['type']>([
  'message_received',
  'message_sent',
  'sponsored_inmail_received',
  'custom_connection_request_accepted',
]);
const isGoodbye = typia.createIs<{ reason: string }>();

/** Reads one frame. Never throws. */
export function readFrame(frame: EventSourceMessage): StreamFrame {
  switch (frame.event) {
    case 'connected':
    case 'heartbeat':
      return { type: frame.event };
    case 'goodbye': {
      const goodbye = parsed(frame.data);
      return { type: 'goodbye', reason: isGoodbye(goodbye) ? goodbye.reason : 'unknown' };
    }
    case 'activity': {
      const activity = parsed(frame.data);
      if (isActivity(activity)) return { type: 'event', event: eventOf(activity) };
      return { type: isOther(activity) && !KNOWN.has(activity.type) ? 'ignored' : 'unreadable' };
    }
    default:
      return { type: 'ignored' };
  }
}

function eventOf(activity: Activity): ProviderEvent {
  return { providerEventId: activity.id, type: activity.type, data: dataOf(activity) };
}

function dataOf(activity: Activity): Record<string, unknown> {
  switch (activity.type) {
    case 'message_received':
    case 'message_sent': {
      const { payload } = activity;
      return {
        conversation_id: payload.conversationId,
        message_urn: payload.messageUrn,
        message_body: payload.body,
        sender_hash_id: payload.senderHashId,
        sender_name: payload.senderName,
        recipient_hash_ids: payload.recipientHashIds,
        delivered_at: payload.deliveredAt,
        ...(payload.renderContent.length > 0 && { render_content: payload.renderContent }),
      };
    }
    case 'sponsored_inmail_received': {
      const { payload } = activity;
      return {
        conversation_id: payload.conversationId,
        message_urn: payload.messageUrn,
        sponsor: payload.sponsor,
        subject: payload.subject,
        message_body: payload.body,
        delivered_at: payload.deliveredAt,
      };
    }
    case 'custom_connection_request_accepted': {
      const { payload } = activity;
      return {
        hash_id: payload.hashId,
        public_id: payload.publicId,
        name: payload.name,
        accepted_at: payload.acceptedAt,
      };
    }
    default:
      return activity satisfies never;
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
