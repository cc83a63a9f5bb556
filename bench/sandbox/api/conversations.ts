import { badRequest, json, notFound } from '../http/answer.js';
import type { Exchange, Route } from '../http/exchange.js';
import { LIMITS } from '../limits.js';
import type { Account } from '../state/accounts.js';
import { CATEGORIES, type Conversation, type Message } from '../state/mailboxes.js';
import type { State } from '../state/state.js';
import { makeCursor, readCursor } from './cursor.js';

/** Reading conversations and their messages. */
export function conversationRoutes(state: State): Route[] {
  return [
    {
      method: 'GET',
      path: '/api/conversations',
      access: 'api',
      capabilities: ['social.conversations.list'],
      answer: (exchange) => listConversations(state, exchange),
    },
    {
      method: 'GET',
      path: '/api/conversations/:id',
      access: 'api',
      capabilities: ['social.conversations.list'],
      answer: (exchange) => {
        exchange.query.only();
        return json({ data: conversationView(state, exchange.viewer, conversationOf(state, exchange)) });
      },
    },
    {
      method: 'GET',
      path: '/api/conversations/:id/messages',
      access: 'api',
      capabilities: ['social.messages.list'],
      answer: (exchange) => listMessages(state, exchange),
    },
  ];
}

function listConversations(state: State, exchange: Exchange): ReturnType<typeof json> {
  const query = exchange.query.only('category', 'count', 'cursor', 'lastActivityBefore');
  const category = query.choice('category', CATEGORIES) ?? 'PRIMARY_INBOX';
  const count = query.number('count', 1, LIMITS.conversation_rows) ?? LIMITS.conversation_rows;
  const cursor = query.text('cursor', 200);
  const before = query.number('lastActivityBefore', 0, Number.MAX_SAFE_INTEGER);
  if (cursor !== null && before !== null) throw badRequest('Give cursor or lastActivityBefore, not both.');

  const all = [...state.mailboxes.of(exchange.viewer.member.hashId).values()];
  const filed = newestFirst(all.filter((conversation) => conversation.category === category));
  const older = before === null ? filed : filed.filter((conversation) => activityOf(conversation) < before);
  return conversationPage(state, exchange.viewer, older, { scope: `conversations/${category}`, cursor, count });
}

/** One page of conversations that are sorted already, continued from `cursor`. */
export function conversationPage(
  state: State,
  viewer: Account,
  sorted: readonly Conversation[],
  page: { scope: string; cursor: string | null; count: number },
): ReturnType<typeof json> {
  const [at, id] = page.cursor === null ? [] : readCursor(page.scope, page.cursor);
  const rest =
    page.cursor === null
      ? sorted
      : sorted.filter((other) => comesAfter(activityOf(other), other.id, Number(at), String(id)));
  const rows = rest.slice(0, page.count);
  const last = rows.at(-1);
  const more = last !== undefined && rest.length > rows.length;
  const nextCursor = more ? makeCursor(page.scope, [activityOf(last), last.id]) : null;
  const data = rows.map((conversation) => conversationView(state, viewer, conversation));
  return json({ data, paging: { nextCursor, total: sorted.length } });
}

export function newestFirst(conversations: readonly Conversation[]): Conversation[] {
  return conversations.toSorted((a, b) => (comesAfter(activityOf(a), a.id, activityOf(b), b.id) ? 1 : -1));
}

/** Newest activity first, then by id. */
function comesAfter(at: number, id: string, otherAt: number, otherId: string): boolean {
  return at === otherAt ? id > otherId : at < otherAt;
}

function activityOf(conversation: Conversation): number {
  return conversation.messages.at(-1)?.deliveredAt ?? 0;
}

function conversationOf(state: State, exchange: Exchange): Conversation {
  const conversation = state.mailboxes.of(exchange.viewer.member.hashId).get(exchange.params[0] ?? '');
  if (conversation === undefined) throw notFound('conversation');
  return conversation;
}

/** A conversation as every endpoint gives it. */
export function conversationView(state: State, viewer: Account, conversation: Conversation): Record<string, unknown> {
  const { id, category, otherHashId, unread } = conversation;
  const own = viewer.member.hashId;
  const other = state.directory.byHashId(otherHashId);
  const last = conversation.messages.at(-1);
  return {
    id,
    urn: `urn:social:conversation:(${own},${id})`,
    category,
    participants: [
      {
        hashId: otherHashId,
        publicId: other?.publicId ?? null,
        name: state.directory.nameOf(otherHashId),
        distance: state.relationships.distance(own, otherHashId),
      },
    ],
    unreadCount: unread,
    lastActivityAt: activityOf(conversation),
    lastMessage:
      last === undefined
        ? null
        : { urn: last.urn, body: last.body, senderHashId: last.senderHashId, deliveredAt: last.deliveredAt },
  };
}

function listMessages(state: State, exchange: Exchange): ReturnType<typeof json> {
  const query = exchange.query.only('count', 'cursor', 'deliveredBefore');
  const count = query.number('count', 1, LIMITS.conversation_rows) ?? LIMITS.conversation_rows;
  const cursor = query.text('cursor', 200);
  const before = query.number('deliveredBefore', 0, Number.MAX_SAFE_INTEGER);
  if (cursor !== null && before !== null) throw badRequest('Give cursor or deliveredBefore, not both.');

  const { id, messages } = conversationOf(state, exchange);
  // A position counts from the oldest message, which never changes: new ones move no page.
  let end = messages.length;
  if (cursor !== null) end = Math.min(end, Number(readCursor(`messages/${id}`, cursor)[0]));
  if (before !== null) end = messages.findLastIndex((message) => message.deliveredAt <= before) + 1;
  const start = Math.max(0, end - count);
  const data = messages
    .slice(start, end)
    .reverse()
    .map((message) => messageView(state, message));
  const nextCursor = start === 0 ? null : makeCursor(`messages/${id}`, [start]);
  return json({ data, paging: { nextCursor, total: messages.length } });
}

function messageView(state: State, message: Message): Record<string, unknown> {
  const { urn, conversationId, body, senderHashId, deliveredAt, renderContent } = message;
  return {
    urn,
    conversationId,
    body,
    senderHashId,
    senderName: state.directory.nameOf(senderHashId),
    deliveredAt,
    renderContent,
  };
}
