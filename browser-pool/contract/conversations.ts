import type { tags } from 'typia';
import type { ConversationUrn, Cursor, Distinct, InboxCount, Keyword, Moment, ProviderId } from './fields.js';
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

export type ConversationsListInput = {
  /** Default PRIMARY_INBOX. */
  category?: 'PRIMARY_INBOX' | 'SECONDARY_INBOX' | 'INMAIL' | 'ARCHIVE' | 'SPAM';
  count?: InboxCount;
  cursor?: Cursor;
  /** The older, coarse cursor: decimal milliseconds. */
  last_activity_at?: Moment;
};

export interface ConversationsResult {
  conversations: Conversation[];
  next_cursor: string | null;
  state_revision: number;
}

export interface Conversation {
  conversation_id: string;
  /** Hash ids. */
  participants: string[];
  unread_count: number | null;
  /** Decimal milliseconds. */
  last_activity_at: number | null;
}

export type ConversationsSearchInput = {
  keywords: Keyword;
  /** Default INBOX, SPAM, ARCHIVE. */
  categories?: ('INBOX' | 'SPAM' | 'ARCHIVE' | 'INMAIL')[] & tags.MinItems<1> & Distinct;
  first_degree_connections?: boolean;
  cursor?: Cursor;
  count?: InboxCount;
};

export type ConversationWithRecipientInput = { recipient_actor_id: ProviderId };

export interface ConversationWithRecipientResult {
  /** Null when there is no thread. */
  conversation: Conversation | null;
  state_revision: number;
}

export type MessagesListInput = {
  conversation_id?: ProviderId;
  count?: InboxCount;
  cursor?: Cursor;
  /** Decimal milliseconds of the oldest message seen: only earlier ones are listed. */
  delivered_at?: Moment;
  conversation_urn?: ConversationUrn;
};

export interface MessagesListResult {
  messages: Message[];
  state_revision: number;
}

export interface Message {
  message_urn: string;
  message_body: string | null;
  sender_hash_id: string | null;
  /** Decimal milliseconds. */
  delivered_at: number | null;
  /** Content of attachments and rich messages. */
  render_content?: Record<string, unknown>[];
}
