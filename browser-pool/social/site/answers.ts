import typia, { type tags } from 'typia';

/**
 * What the site's JSON endpoints answer, by the service's names: the description says what the site calls each field. Only
 * these shapes are understood: anything else is `parsing_error`. Fields that no program reads are left out, so that the
 * site may add to its answers.
 */

/** An id as the service hands it on; anything else could not be given back as an input. */
export type Id = string & tags.Pattern<'^[A-Za-z0-9_+=-]{1,255}$'>;
export type Milliseconds = number & tags.Type<'uint64'>;
export type Distance = 'SELF' | 'F' | 'S' | 'O';

/** Every refusal. */
export interface RefusalAnswer {
  error: { code: string };
}
export const isRefusal = typia.createIs<RefusalAnswer>();

export interface MeAnswer {
  data: {
    hashId: Id;
    publicId: string;
    memberId: string;
    firstName: string;
    lastName: string;
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
    memberId: string;
    hashId: Id;
    publicId: string;
    distance: Distance;
    name: string;
    headline: string | null;
    summary: string | null;
    location: string | null;
    profileUrl: string;
    insights: string[];
    badgeHoverText: string | null;
  }[];
  paging: { start: number };
}
export const isPeople = typia.createIs<PeopleAnswer>();

export interface ConversationAnswer {
  id: Id;
  participants: { hashId: Id }[];
  unreadCount: number & tags.Type<'uint32'>;
  lastActivityAt: Milliseconds;
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
    body: string;
    senderHashId: Id;
    deliveredAt: Milliseconds;
    renderContent: Record<string, unknown>[];
  }[];
  paging: { nextCursor: string | null };
}
export const isMessages = typia.createIs<MessagesAnswer>();

export interface SentAnswer {
  data: { urn: string; conversationId: Id; deliveredAt: Milliseconds };
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
