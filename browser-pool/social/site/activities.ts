import typia, { type tags } from 'typia';
import type { EventType } from '../../../storage/model/records.js';
import type { Milliseconds } from './answers.js';
import type { Names } from './names.js';

/** What the event stream says, by the service's names (see `answers.ts` for the rule). */

/** The kinds of frame that mean something. */
export type FrameKind = 'connected' | 'heartbeat' | 'goodbye' | 'activity';

export interface Goodbye {
  reason: string;
}
export const isGoodbye = typia.createIs<Goodbye>();

/** One that stands for nothing else; what PostgreSQL cannot store in a text is no part of an id. */
type ActivityId = string & tags.Pattern<'^[^\\u0000-\\u001f]{1,255}$'>;

/** The envelope of every activity, whatever it is about. */
interface Envelope {
  id: string;
  type: string;
  payload: Record<string, unknown>;
}

interface MessagePayload {
  conversationId: string;
  messageUrn: string;
  senderHashId: string | null;
  senderName: string | null;
  recipientHashIds: string[] | null;
  body: string | null;
  deliveredAt: Milliseconds | null;
  renderContent: Record<string, unknown>[] | null;
}

interface Payloads {
  message_received: MessagePayload;
  message_sent: MessagePayload;
  sponsored_inmail_received: {
    conversationId: string;
    messageUrn: string;
    sponsor: string | null;
    subject: string | null;
    body: string | null;
    deliveredAt: Milliseconds | null;
  };
  custom_connection_request_accepted: {
    hashId: string;
    publicId: string | null;
    name: string | null;
    acceptedAt: Milliseconds | null;
  };
}
export type ActivityType = keyof Payloads & EventType;

export type Activity = {
  [Type in ActivityType]: { id: ActivityId; type: Type; payload: Payloads[Type] };
}[ActivityType];
export const isActivity = typia.createIs<Activity>();

/** The event stream of the site. */
export interface SiteStream {
  path: string;
  /** The event names of its frames. */
  frames: Record<FrameKind, string>;
  goodbye: Names<Goodbye>;
  activity: Names<Envelope>;
  /** Each kind of activity: its type on the site, and the names in its payload. */
  activities: { [Type in ActivityType]: { type: string; payload: Names<Payloads[Type]> } };
}
