import typia, { type tags } from 'typia';
import {
  type ConversationUrn,
  type Cursor,
  type InboxCount,
  isProviderId,
  type Keyword,
  type Milliseconds,
  type ProviderId,
} from '../../browser-pool/contract/fields.js';
import type { FieldError } from '../../storage/model/errors.js';
import { atMostOne, type CatalogueEntry, type InputContext, refuse } from './rules.js';

/** Conversations and messages (contract: the section of that name). */

export type ConversationsListInput = {
  /** Default PRIMARY_INBOX. */
  category?: 'PRIMARY_INBOX' | 'SECONDARY_INBOX' | 'INMAIL' | 'ARCHIVE' | 'SPAM';
  count?: InboxCount;
  cursor?: Cursor;
  /** The older, coarse cursor: decimal milliseconds. */
  last_activity_at?: Milliseconds;
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
  categories?: ('INBOX' | 'SPAM' | 'ARCHIVE' | 'INMAIL')[] & tags.MinItems<1> & tags.UniqueItems;
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
  /** Decimal milliseconds of the oldest message seen: asks for earlier ones. */
  delivered_at?: Milliseconds;
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

/** The own actor and the conversation that a `conversation_urn` names. */
export function readConversationUrn(urn: string): { actor: string; conversationId: string } {
  const [actor = '', conversationId = ''] = urn.slice(urn.indexOf('(') + 1, -1).split(',');
  return { actor, conversationId };
}

function refineMessages(input: Record<string, unknown>, context: InputContext = {}): FieldError[] {
  const errors = atMostOne(input, ['cursor', 'delivered_at']);
  const { conversation_id, conversation_urn } = input;
  if (typeof conversation_urn !== 'string') {
    if (conversation_id === undefined) errors.push(...refuse('$input', 'conversation_id or conversation_urn'));
    return errors;
  }
  const { actor, conversationId } = readConversationUrn(conversation_urn);
  if (conversation_id !== undefined && conversation_id !== conversationId) {
    errors.push(...refuse('$input.conversation_urn', 'the urn of conversation_id'));
  }
  // An actor id that no urn can name has another hash id, which only the provider knows: left to the execution.
  const { ownActor } = context;
  if (isProviderId(ownActor) && ownActor !== actor) {
    errors.push(...refuse('$input.conversation_urn', "the connection's own actor"));
  }
  return errors;
}

export const conversations: readonly CatalogueEntry[] = [
  {
    name: 'social.conversations.list',
    family: 'conversations',
    kind: 'read',
    send: false,
    needs: 'session',
    sealed: false,
    validate: typia.createValidateEquals<ConversationsListInput>(),
    refine: (input) => atMostOne(input, ['cursor', 'last_activity_at']),
  },
  {
    name: 'social.conversations.search',
    family: 'conversations',
    kind: 'read',
    send: false,
    needs: 'session',
    sealed: false,
    validate: typia.createValidateEquals<ConversationsSearchInput>(),
  },
  {
    name: 'social.conversation.with_recipient',
    family: 'conversations',
    kind: 'read',
    send: false,
    needs: 'session',
    sealed: false,
    validate: typia.createValidateEquals<ConversationWithRecipientInput>(),
  },
  {
    name: 'social.messages.list',
    family: 'conversations',
    kind: 'read',
    send: false,
    needs: 'session',
    sealed: false,
    validate: typia.createValidateEquals<MessagesListInput>(),
    refine: refineMessages,
  },
];
