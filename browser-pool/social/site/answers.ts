import typia, { type tags } from 'typia';
import type { PersonId } from '../../contract/fields.js';
import type { Unfamiliar } from './names.js';

/**
 * What the site's JSON endpoints answer, by the service's names: the description says what the site calls each field. Only
 * these shapes are understood: anything else is `parsing_error`. Fields that no program reads are left out, so that the
 * site may add to its answers. What a row may lack is null in it (CONN-18): sites leave out what they do not have, or do not show to everybody.
 */

/** An id as the service hands it on, of a person or of something else; anything else could not be given back as an input. */
export type Id = PersonId & tags.Pattern<'^[A-Za-z0-9_+=-]{1,255}$'>;
/** From 2000 to 9999: anything else is in another unit. */
export type Milliseconds = number & tags.Type<'uint64'> & tags.Minimum<946684800000> & tags.Maximum<253402300799999>;
const isId = typia.createIs<Id>();
const isMilliseconds = typia.createIs<Milliseconds>();

/** An id of a person; null for what is none, such as that of a company. */
export const personId = (id: unknown): Id | null => (isId(id) ? id : null);

/** A time of the site; null for what is none. */
export const timeOf = (at: unknown): Milliseconds | null => (isMilliseconds(at) ? at : null);

export type Distance = 'SELF' | 'F' | 'S' | 'O';

/** Every refusal. */
export interface RefusalAnswer {
  error: { code: string };
}
export const isRefusal = typia.createIs<RefusalAnswer>();

export interface MeAnswer {
  data: {
    hashId: Id;
    publicId: string | null;
    memberId: string | null;
    firstName: string | null;
    lastName: string | null;
    headline: string | null;
    pictureUrl: string | null;
  };
}
export const isMe = typia.createIs<MeAnswer>();

export interface ResolveAnswer {
  data: { publicId: string; hashId: Id }[];
  missing: string[];
}
export const isResolve = typia.createIs<ResolveAnswer>();

export interface PeopleAnswer {
  data: {
    memberId: string | null;
    hashId: Id | null;
    publicId: string | null;
    distance: Distance | null;
    name: string | null;
    headline: string | null;
    summary: string | null;
    location: string | null;
    profileUrl: string | null;
    insights: string[] | null;
    badgeHoverText: string | null;
  }[];
  paging: { start: number };
}
export const isPeople = typia.createIs<PeopleAnswer>();

export interface ConversationAnswer {
  id: Id;
  /** Companies take part under ids of another kind, or under other names. */
  participants: ({ hashId: string | null } | Unfamiliar)[] | null;
  unreadCount: (number & tags.Type<'uint32'>) | null;
  lastActivityAt: Milliseconds | null;
}

export interface ConversationsAnswer {
  data: ConversationAnswer[];
  paging: { nextCursor: string | null };
}
export const isConversations = typia.createIs<ConversationsAnswer>();

/** The thread with one person; null when there is none. */
export interface ConversationWithAnswer {
  data: ConversationAnswer | null;
}
export const isConversationWith = typia.createIs<ConversationWithAnswer>();

export interface MessagesAnswer {
  data: {
    urn: string;
    body: string | null;
    /** That of a company is of another kind. */
    senderHashId: string | null;
    /** Pages are told apart by it. */
    deliveredAt: Milliseconds;
    renderContent: Record<string, unknown>[] | null;
  }[];
  paging: { nextCursor: string | null };
}
export const isMessages = typia.createIs<MessagesAnswer>();

/** The urn acknowledges the message: what else is unfamiliar does not leave open whether it was sent. */
export interface SentAnswer {
  data: {
    urn: string & tags.MinLength<1>;
    conversationId: string | number | null;
    deliveredAt: string | number | null;
  };
}
export const isSent = typia.createIs<SentAnswer>();

/** An uploaded file, by the name a message takes it under. */
export interface UploadAnswer {
  data: { urn: string & tags.MinLength<1>; size: number & tags.Type<'uint32'> };
}
export const isUpload = typia.createIs<UploadAnswer>();

export interface InvitedAnswer {
  data: { code: string & tags.MinLength<1>; message: string; invitationId: string | null };
}
export const isInvited = typia.createIs<InvitedAnswer>();
