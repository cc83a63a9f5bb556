import { RunFailure, unexpectedAnswer } from '../../failures.js';
import type { Program, ProgramOutcome, ProgramRun } from '../../program.js';
import { Endpoints } from '../access/endpoints.js';
import {
  type ConversationAnswer,
  isConversations,
  isConversationWith,
  isMessages,
  type MessagesAnswer,
} from '../site/answers.js';
import { type Site, withNames } from '../site/site.js';

/** Programs of the family "conversations": reading threads and their messages. */
export function conversationPrograms(site: Site): [string, Program][] {
  return [
    ['social.conversations.list', (run) => listConversations(run, site)],
    ['social.conversations.search', (run) => searchConversations(run, site)],
    ['social.conversation.with_recipient', (run) => conversationWith(run, site)],
    ['social.messages.list', (run) => listMessages(run, site)],
  ];
}

/** Contract: social.conversations.list, "Conversation entry". */
async function listConversations(run: ProgramRun, site: Site): Promise<ProgramOutcome> {
  const input = run.input as {
    category?: string;
    count?: number;
    cursor?: string;
    last_activity_at?: string | number;
  };
  const endpoints = await Endpoints.open(run, site);
  const { data, paging } = await endpoints.get(
    site.paths.conversations,
    {
      category: input.category,
      count: input.count,
      cursor: input.cursor,
      lastActivityBefore: input.last_activity_at,
    },
    isConversations,
  );
  return { result: { conversations: data.map(conversationEntry), next_cursor: paging.nextCursor } };
}

/** Contract: social.conversations.search. Looks into the three categories the spec names by default. */
async function searchConversations(run: ProgramRun, site: Site): Promise<ProgramOutcome> {
  const input = run.input as {
    keywords: string;
    categories?: string[];
    first_degree_connections?: boolean;
    cursor?: string;
    count?: number;
  };
  const endpoints = await Endpoints.open(run, site);
  const { data, paging } = await endpoints.get(
    site.paths.conversationSearch,
    {
      keywords: input.keywords,
      categories: (input.categories ?? SEARCHED).join(','),
      firstDegree: input.first_degree_connections ? 'true' : undefined,
      count: input.count,
      cursor: input.cursor,
    },
    isConversations,
  );
  return { result: { conversations: data.map(conversationEntry), next_cursor: paging.nextCursor } };
}

const SEARCHED = ['INBOX', 'SPAM', 'ARCHIVE'];

/** Contract: social.conversation.with_recipient. Null when there is no thread; an unknown person is `provider_not_found`. */
async function conversationWith(run: ProgramRun, site: Site): Promise<ProgramOutcome> {
  const { recipient_actor_id } = run.input as { recipient_actor_id: string };
  const endpoints = await Endpoints.open(run, site);
  const path = withNames(site.paths.conversationWith, { id: recipient_actor_id });
  const { data } = await endpoints.get(path, {}, isConversationWith);
  if (data && !data.participants.some(({ hashId }) => hashId === recipient_actor_id)) throw unexpectedAnswer('answer');
  return { result: { conversation: data && conversationEntry(data) } };
}

/** Contract: social.messages.list, "Message entry". */
async function listMessages(run: ProgramRun, site: Site): Promise<ProgramOutcome> {
  const input = run.input as { count?: number; cursor?: string; delivered_at?: string | number };
  const path = withNames(site.paths.conversationMessages, { id: conversationOf(run) });
  const endpoints = await Endpoints.open(run, site);
  const { data } = await endpoints.get(
    path,
    { count: input.count, cursor: input.cursor, deliveredBefore: input.delivered_at },
    isMessages,
  );
  return { result: { messages: data.map(messageEntry) } };
}

/** The conversation an input names, by id or by a urn that must name the authenticated account (OPS-18). */
function conversationOf(run: ProgramRun): string {
  const { conversation_id, conversation_urn } = run.input as { conversation_id?: string; conversation_urn?: string };
  if (conversation_urn === undefined) return conversation_id ?? '';
  const [, actor, id] = /^urn:social:conversation:\(([^,]+),([^,]+)\)$/.exec(conversation_urn) ?? [];
  if (id === undefined || actor !== run.actorId || (conversation_id !== undefined && conversation_id !== id)) {
    throw new RunFailure('validation_error', { reason: 'conversation_urn_mismatch' });
  }
  return id;
}

/** Contract: "Conversation entry". */
function conversationEntry(conversation: ConversationAnswer): Record<string, unknown> {
  return {
    conversation_id: conversation.id,
    participants: conversation.participants.map((participant) => participant.hashId),
    unread_count: conversation.unreadCount,
    last_activity_at: conversation.lastActivityAt,
  };
}

function messageEntry(message: MessagesAnswer['data'][number]): Record<string, unknown> {
  return {
    message_urn: message.urn,
    message_body: message.body,
    sender_hash_id: message.senderHashId,
    delivered_at: message.deliveredAt,
    ...(message.renderContent.length > 0 && { render_content: message.renderContent }),
  };
}
