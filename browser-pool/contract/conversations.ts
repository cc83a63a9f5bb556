import type { tags } from 'typia';
import type {
  ConversationUrn,
  Cursor,
  Distinct,
  InboxCount,
  Keyword,
  Moment,
  PersonId,
  ProviderId,
  Recipient,
} from './fields.js';
import type { Signature } from './signature.js';

/** Conversations and messages (contract: "Conversations and messages"). */

export type ListConversations = Signature<'social.conversations.list', ConversationsListInput, ConversationsResult>;
export type SearchConversations = Signature<
  'social.conversations.search',
  ConversationsSearchInput,
  ConversationsResult
>;
export type ConversationWithRecipient = Signature<
  'social.conversation.with_recipient',
  ConversationWithRecipientInput,
  ConversationWithRecipientResult
>;
export type ListMessages = Signature<'social.messages.list', MessagesListInput, MessagesListResult>;

/** Which conversations to list. */
export type ConversationsListInput = {
  /**
   * Part of the inbox: `PRIMARY_INBOX` the usual one and the default, `SECONDARY_INBOX` what the provider puts aside, `INMAIL`
   * paid messages, `ARCHIVE` what was archived, `SPAM` what was marked as such.
   */
  category?: 'PRIMARY_INBOX' | 'SECONDARY_INBOX' | 'INMAIL' | 'ARCHIVE' | 'SPAM';
  /** Conversations on a page, 1 to 20. */
  count?: InboxCount;
  /** `next_cursor` of the page before, unchanged; not together with `last_activity_at`. */
  cursor?: Cursor;
  /** The older, coarse cursor: conversations whose last activity was before this, in decimal milliseconds. */
  last_activity_at?: Moment;
};

/** A page of conversations. */
export interface ConversationsResult {
  /** The conversations, newest activity first. */
  conversations: Conversation[];
  /** Where the next page begins; null on the last one. */
  next_cursor: string | null;
  /** Generation of the session that read them. */
  state_revision: number;
}

/** A thread with one or more people. */
export interface Conversation {
  /** Its id, for `social.messages.list` and for sends. */
  conversation_id: string;
  /** Hash ids of the other people in it. */
  participants: PersonId[];
  /** How many of its messages are unread, null when the provider does not say. */
  unread_count: number | null;
  /** When something last happened in it, in decimal milliseconds; null when the provider does not say. */
  last_activity_at: number | null;
}

/** What to look for in conversations. */
export type ConversationsSearchInput = {
  /** Words that the conversation holds, 1 to 100 characters. */
  keywords: Keyword;
  /**
   * Parts of the inbox to look in: `INBOX` all that is not put away, `SPAM` what was marked as such, `ARCHIVE` what was archived,
   * `INMAIL` paid messages; the first three when it is absent.
   */
  categories?: ('INBOX' | 'SPAM' | 'ARCHIVE' | 'INMAIL')[] & tags.MinItems<1> & Distinct;
  /** `true` looks only in conversations with the account's own connections. */
  first_degree_connections?: boolean;
  /** `next_cursor` of the page before, unchanged. */
  cursor?: Cursor;
  /** Conversations on a page, 1 to 20. */
  count?: InboxCount;
};

/** Whose thread to find. */
export type ConversationWithRecipientInput = {
  /** Hash id of the person. */
  recipient_actor_id: Recipient;
};

/** The thread with a person. */
export interface ConversationWithRecipientResult {
  /** The thread; null when there is none. */
  conversation: Conversation | null;
  /** Generation of the session that looked. */
  state_revision: number;
}

/** Which messages to list. At least one of `conversation_id` and `conversation_urn` is needed. */
export type MessagesListInput = {
  /** Conversation to read, as a conversation read gave it. */
  conversation_id?: ProviderId;
  /** Messages on a page, 1 to 20. */
  count?: InboxCount;
  /** Opaque cursor of the page before, unchanged; not together with `delivered_at`. */
  cursor?: Cursor;
  /** Decimal milliseconds of the oldest message seen: only earlier ones are listed, and those of the same moment can repeat. */
  delivered_at?: Moment;
  /** The conversation's URN, in place of `conversation_id` or beside it; it must name the connection's own account. */
  conversation_urn?: ConversationUrn;
};

/** Messages of a conversation. */
export interface MessagesListResult {
  /** The messages, newest first; dedupe by `message_urn`. */
  messages: Message[];
  /** Generation of the session that read them. */
  state_revision: number;
}

/** One message. */
export interface Message {
  /** Its URN, unique at the provider. */
  message_urn: string;
  /** Its text, null when it has none. */
  message_body: string | null;
  /** Hash id of who wrote it, null when the provider does not say. */
  sender_hash_id: PersonId | null;
  /** When it was delivered, in decimal milliseconds; null when the provider does not say. */
  delivered_at: number | null;
  /** Content of attachments and rich messages, as the provider gave it; absent when there is none. */
  render_content?: Record<string, unknown>[];
}
