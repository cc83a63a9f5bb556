import type { EventSourceMessage } from 'eventsource-parser';
import typia from 'typia';
import type { EventType } from '../../../storage/model/records.js';
import {
  type Activity,
  type ActivityType,
  type FrameKind,
  isActivity,
  isGoodbye,
  type SiteStream,
} from '../site/activities.js';
import { fromSite } from '../site/names.js';
import { parsedJson } from './json.js';

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

/** Reads one frame of this stream. Never throws. */
export function readFrame(frame: EventSourceMessage, stream: SiteStream): StreamFrame {
  const kinds = Object.keys(stream.frames) as FrameKind[];
  const kind = kinds.find((one) => stream.frames[one] === frame.event);
  switch (kind) {
    case 'connected':
    case 'heartbeat':
      return { type: kind };
    case 'goodbye': {
      const goodbye = fromSite(parsedJson(frame.data), stream.goodbye);
      return { type: 'goodbye', reason: isGoodbye(goodbye) ? goodbye.reason : 'unknown' };
    }
    case 'activity':
      return readActivity(parsedJson(frame.data), stream);
    case undefined:
      return { type: 'ignored' };
    default:
      return kind satisfies never;
  }
}

function readActivity(data: unknown, { activity, activities }: SiteStream): StreamFrame {
  const envelope = fromSite(data, activity);
  if (!isOfSomeType(envelope)) return { type: 'unreadable' };
  const types = Object.keys(activities) as ActivityType[];
  const type = types.find((one) => activities[one].type === envelope.type);
  if (type === undefined) return { type: 'ignored' };
  const known = { ...envelope, type, payload: fromSite(envelope.payload, activities[type].payload) };
  return isActivity(known) ? { type: 'event', event: eventOf(known) } : { type: 'unreadable' };
}

const isOfSomeType = typia.createIs<{ type: string; payload?: unknown }>();

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
        recipient_hash_ids: payload.recipientHashIds ?? [],
        delivered_at: payload.deliveredAt,
        ...(payload.renderContent?.length && { render_content: payload.renderContent }),
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
