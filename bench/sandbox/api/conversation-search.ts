import { wordsOf } from '../data/directory.js';
import { type Answer, badRequest, json, notFound } from '../http/answer.js';
import type { Exchange, Route } from '../http/exchange.js';
import { LIMITS } from '../limits.js';
import type { Category, Conversation } from '../state/mailboxes.js';
import type { State } from '../state/state.js';
import { conversationPage, conversationView, newestFirst } from './conversations.js';

/** Finding conversations: by words, and by the person at the other end. */
export function conversationSearchRoutes(state: State): Route[] {
  return [
    {
      method: 'GET',
      path: '/api/conversations/search',
      access: 'api',
      capabilities: ['social.conversations.search'],
      answer: (exchange) => search(state, exchange),
    },
    {
      method: 'GET',
      path: '/api/conversations/with/:id',
      access: 'api',
      capabilities: ['social.conversation.with_recipient'],
      answer: (exchange) => {
        exchange.query.only();
        const { viewer, params } = exchange;
        const [hashId = ''] = params;
        if (state.directory.byHashId(hashId) === undefined) throw notFound('member');
        const id = state.mailboxes.conversationId(viewer.member.hashId, hashId);
        const conversation = state.mailboxes.of(viewer.member.hashId).get(id);
        return json({ data: conversation === undefined ? null : conversationView(state, viewer, conversation) });
      },
    },
  ];
}

/** What the search calls a category, and the categories it means. */
const SEARCHED: Readonly<Record<string, readonly Category[]>> = {
  INBOX: ['PRIMARY_INBOX', 'SECONDARY_INBOX'],
  SPAM: ['SPAM'],
  ARCHIVE: ['ARCHIVE'],
  INMAIL: ['INMAIL'],
};

function search(state: State, exchange: Exchange): Answer {
  const query = exchange.query.only('keywords', 'categories', 'firstDegree', 'count', 'cursor');
  const keywords = query.text('keywords', 100);
  if (keywords === null) throw badRequest('keywords is missing.');
  const names = query.list('categories', 4) ?? ['INBOX', 'SPAM', 'ARCHIVE'];
  const categories = names.flatMap((name) => {
    const meant = SEARCHED[name];
    if (meant === undefined) throw badRequest(`categories is a list of ${Object.keys(SEARCHED).join(', ')}.`);
    return meant;
  });
  const firstDegree = query.flag('firstDegree') ?? false;
  const count = query.number('count', 1, LIMITS.conversation_rows) ?? LIMITS.conversation_rows;
  const cursor = query.text('cursor', 200);

  const { viewer } = exchange;
  const asked = wordsOf(keywords);
  const found = [...state.mailboxes.of(viewer.member.hashId).values()].filter(
    (conversation) =>
      categories.includes(conversation.category) &&
      (!firstDegree || state.relationships.distance(viewer.member.hashId, conversation.otherHashId) === 'F') &&
      asked.length > 0 &&
      speaksOf(state, conversation, asked),
  );
  const scope = JSON.stringify(['search', asked, categories, firstDegree]);
  return conversationPage(state, viewer, newestFirst(found), { scope, cursor, count });
}

/** Whether all words occur in the other's name, or all in one message. */
function speaksOf(state: State, conversation: Conversation, asked: readonly string[]): boolean {
  const texts = [state.directory.nameOf(conversation.otherHashId), ...conversation.messages.map(({ body }) => body)];
  return texts.some((text) => {
    const own = wordsOf(text);
    return asked.every((word) => own.includes(word));
  });
}
