import { readConversationUrn } from '../../contract/conversation-urn.js';
import type {
  Conversation,
  ConversationsSearchInput,
  ConversationWithRecipient,
  ListConversations,
  ListMessages,
  Message,
  MessagesListInput,
  SearchConversations,
} from '../../contract/conversations.js';
import { wholeMoments } from '../../contract/whole-moments.js';
import { RunFailure, unexpectedAnswer } from '../../failures.js';
import { Endpoints } from '../access/endpoints.js';
import {
  type ConversationAnswer,
  isConversations,
  isConversationWith,
  isMessages,
  type MessagesAnswer,
  personId,
} from '../site/answers.js';
import { defineProgram } from './define.js';

/** Contract: social.conversations.list, "Row shapes". */
const listConversations = defineProgram<ListConversations>('social.conversations.list', async (run, site) => {
  const { category, count, cursor, last_activity_at } = run.input;
  const endpoints = await Endpoints.open(run, site);
  const { data, paging } = await endpoints.get(
    'conversations',
    { category, count, cursor, lastActivityBefore: last_activity_at },
    isConversations,
  );
  return { result: { conversations: data.map(conversationEntry), next_cursor: paging.nextCursor } };
});

/** Contract: social.conversations.search. Looks into three categories unless the input names others. */
const searchConversations = defineProgram<SearchConversations>('social.conversations.search', async (run, site) => {
  const { keywords, categories = SEARCHED, first_degree_connections, count, cursor } = run.input;
  const endpoints = await Endpoints.open(run, site);
  const { data, paging } = await endpoints.get(
    'conversationSearch',
    {
      keywords,
      categories,
      firstDegree: first_degree_connections || undefined,
      count,
      cursor,
    },
    isConversations,
  );
  return { result: { conversations: data.map(conversationEntry), next_cursor: paging.nextCursor } };
});

const SEARCHED: NonNullable<ConversationsSearchInput['categories']> = ['INBOX', 'SPAM', 'ARCHIVE'];

/** Contract: social.conversation.with_recipient. Null when there is no thread; an unknown person is `provider_not_found`. */
const conversationWithRecipient = defineProgram<ConversationWithRecipient>(
  'social.conversation.with_recipient',
  async (run, site) => {
    const { recipient_actor_id } = run.input;
    const endpoints = await Endpoints.open(run, site);
    const { data } = await endpoints.get('conversationWith', { id: recipient_actor_id }, isConversationWith);
    if (data && !data.participants?.some((one) => one && one.hashId === recipient_actor_id)) {
      throw unexpectedAnswer('answer');
    }
    return { result: { conversation: data && conversationEntry(data) } };
  },
);

/** Contract: social.messages.list, "Row shapes". */
const listMessages = defineProgram<ListMessages>('social.messages.list', async (run, site) => {
  const { count = PAGE_MESSAGES, cursor, delivered_at } = run.input;
  const id = conversationOf(run.input, run.actorId);
  const endpoints = await Endpoints.open(run, site);
  if (cursor !== undefined) {
    const { data } = await endpoints.get('conversationMessages', { id, count, cursor }, isMessages);
    return { result: { messages: data.map(messageEntry) } };
  }
  // The site gives what came at that time again; the page before had all of it.
  const before = delivered_at === undefined ? undefined : Math.max(0, Number(delivered_at) - 1);
  const rows = await pastPage(count, (at) =>
    endpoints.get(
      'conversationMessages',
      at === null ? { id, count: Math.min(count + 1, PAGE_MESSAGES), deliveredBefore: before } : { id, cursor: at },
      isMessages,
    ),
  );
  return { result: { messages: wholeMoments(rows, count, ({ deliveredAt }) => deliveredAt).map(messageEntry) } };
});

/** What the site gives at most, and gives when it is not asked for less. */
const PAGE_MESSAGES = 20;

/** Messages, newest first, until there is one that does not belong to a page of `count`, or no more. */
async function pastPage(
  count: number,
  read: (cursor: string | null) => Promise<MessagesAnswer>,
): Promise<MessagesAnswer['data']> {
  const rows: MessagesAnswer['data'] = [];
  for (let cursor: string | null = null; ; ) {
    const { data, paging } = await read(cursor);
    rows.push(...data);
    cursor = paging.nextCursor;
    const isPast = rows.length > count && rows[0]?.deliveredAt !== rows.at(-1)?.deliveredAt;
    if (isPast || cursor === null || data.length === 0) return rows;
  }
}

/** Reading threads and their messages. */
export const conversationPrograms = [
  listConversations,
  searchConversations,
  conversationWithRecipient,
  listMessages,
] as const;

/** The conversation an input names, by id or by a urn that must name the authenticated account (OPS-18). */
function conversationOf({ conversation_id, conversation_urn }: MessagesListInput, ownActor: string | null): string {
  if (conversation_urn === undefined) return conversation_id ?? '';
  const { actor, conversationId } = readConversationUrn(conversation_urn);
  if (actor !== ownActor || (conversation_id !== undefined && conversation_id !== conversationId)) {
    throw new RunFailure('validation_error', { reason: 'conversation_urn_mismatch' });
  }
  return conversationId;
}

/** Contract: "Row shapes". */
function conversationEntry(conversation: ConversationAnswer): Conversation {
  return {
    conversation_id: conversation.id,
    participants: (conversation.participants ?? []).flatMap((one) => (one && personId(one.hashId)) || []),
    unread_count: conversation.unreadCount,
    last_activity_at: conversation.lastActivityAt,
  };
}

function messageEntry(message: MessagesAnswer['data'][number]): Message {
  return {
    message_urn: message.urn,
    message_body: message.body,
    sender_hash_id: personId(message.senderHashId),
    delivered_at: message.deliveredAt,
    ...(message.renderContent?.length && { render_content: message.renderContent }),
  };
}
