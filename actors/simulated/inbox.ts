import type {
  Conversation,
  ConversationsSearchInput,
  ConversationWithRecipient,
  ListConversations,
  SearchConversations,
} from '../../browser-pool/contract/conversations.js';
import * as stored from '../../storage/operations/simulated-messages.js';
import { LIMITS } from './limits.js';
import {
  type Category,
  type HistoricConversation,
  historicConversations,
  historicMessages,
} from './message-history.js';
import { conversationWith, participantOf, publicIdOf } from './names.js';
import { nameOf } from './people.js';
import { distanceTo, type Self } from './relationship.js';
import type { SimulatedAnswer } from './request.js';
import { withoutTriggers } from './triggers.js';

/**
 * The simulated inbox: conversations with messages of their own first, newest first, as the connection's events recorded
 * them; then the computed history that every account begins with. A cursor is `s-<event id>` among the former and
 * `p-<place>` in the history. A conversation of the history that goes on moves to the primary inbox.
 */

const DEFAULT_COUNT = 20;
type Position = { in: 'stored'; before: string | null } | { in: 'history'; place: number };

const CURSOR = /^(?:s-(?<event>[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})|p-(?<place>[0-9]{1,4}))$/;

/** Undefined for a cursor that no page gave. */
function positionOf(cursor: string | undefined): Position | undefined {
  if (cursor === undefined) return { in: 'stored', before: null };
  const { groups } = CURSOR.exec(cursor) ?? {};
  if (groups?.event) return { in: 'stored', before: groups.event };
  return groups?.place ? { in: 'history', place: Number(groups.place) } : undefined;
}

const UNKNOWN_CURSOR = { invalid: [{ path: 'input.cursor', expected: 'the cursor of the preceding page' }] };

export const listConversations: SimulatedAnswer<ListConversations> = async (request) => {
  const { input, self, connection, store } = request;
  const { category = 'PRIMARY_INBOX', count = DEFAULT_COUNT } = input;
  const position = positionOf(input.cursor);
  if (!position) return UNKNOWN_CURSOR;
  const before_ms = input.last_activity_at === undefined ? null : Number(input.last_activity_at);
  const conversations: Conversation[] = [];
  if (category === 'PRIMARY_INBOX' && position.in === 'stored') {
    const page = await stored.readInbox(store.db, connection.id, position.before, before_ms, count);
    conversations.push(...page.newest.map((message) => storedEntry(message)));
    if (page.next !== null) {
      return { result: { conversations, next_cursor: `s-${page.next}` } };
    }
  }
  const inCategory = historicConversations(self).filter(({ category: its }) => its === category);
  const active = await stored.readActive(
    store.db,
    connection.id,
    inCategory.map(({ id }) => id),
  );
  const history = inCategory.filter(({ id }) => !active.has(id));
  // A time is where the page begins; its places are those of the one list, so that the next page needs no time.
  const older = before_ms === null ? 0 : history.findIndex(({ lastActivityAt }) => lastActivityAt < before_ms);
  const place = position.in === 'history' ? position.place : older < 0 ? history.length : older;
  return fillFromHistory(conversations, history, place, count);
};

type SearchCategory = NonNullable<ConversationsSearchInput['categories']>[number];
const SEARCHED_AS: Record<Category, SearchCategory> = {
  PRIMARY_INBOX: 'INBOX',
  SECONDARY_INBOX: 'INBOX',
  INMAIL: 'INMAIL',
  ARCHIVE: 'ARCHIVE',
  SPAM: 'SPAM',
};

export const searchConversations: SimulatedAnswer<SearchConversations> = async (request) => {
  const { input, self, connection, store } = request;
  const { count = DEFAULT_COUNT } = input;
  const categories: SearchCategory[] = input.categories ?? ['INBOX', 'SPAM', 'ARCHIVE'];
  const position = positionOf(input.cursor);
  if (!position) return UNKNOWN_CURSOR;
  const text = withoutTriggers(input.keywords).trim().toLowerCase();
  const wanted = (hashId: string) => !input.first_degree_connections || distanceTo(self, publicIdOf(hashId)) === 1;
  const find = (before: string | null, atMost: number) =>
    categories.includes('INBOX') ? stored.searchInbox(store.db, connection.id, text, before, atMost) : [];
  const conversations: Conversation[] = [];
  if (position.in === 'stored') {
    const found = await find(position.before, count + 1);
    const page = found.slice(0, count);
    conversations.push(...page.map(storedEntry).filter(({ participants }) => participants.every(wanted)));
    const last = page.at(-1);
    if (found.length > count && last) {
      return { result: { conversations, next_cursor: `s-${last.id}` } };
    }
  }
  const seen = new Set((await find(null, LIMITS.searched_conversations)).map((message) => message.conversation_id));
  const history = historicConversations(self).filter(
    (conversation) =>
      categories.includes(SEARCHED_AS[conversation.category]) &&
      !seen.has(conversation.id) &&
      wanted(conversation.person.hashId) &&
      holds(self, conversation, text),
  );
  return fillFromHistory(conversations, history, position.in === 'history' ? position.place : 0, count);
};

export const conversationWithRecipient: SimulatedAnswer<ConversationWithRecipient> = async (request) => {
  const { input, self, connection, store } = request;
  const id = conversationWith(input.recipient_actor_id);
  const [newest] = await stored.readMessages(store.db, connection.id, id, null, 1);
  const historic = newest ? undefined : historicConversations(self).find((conversation) => conversation.id === id);
  const conversation = newest ? storedEntry(newest) : historic ? historicEntry(historic) : null;
  return { result: { conversation } };
};

/** Fills a page with the history from `place` on. */
function fillFromHistory(conversations: Conversation[], history: HistoricConversation[], place: number, count: number) {
  const rest = history.slice(place, place + count - conversations.length);
  const next = place + rest.length;
  return {
    result: {
      conversations: [...conversations, ...rest.map(historicEntry)],
      next_cursor: next < history.length ? `p-${next}` : null,
    },
  };
}

function holds(self: Self, conversation: HistoricConversation, text: string): boolean {
  if (nameOf(conversation.person).toLowerCase().includes(text)) return true;
  return historicMessages(self, conversation).some(({ message_body }) => message_body?.toLowerCase().includes(text));
}

function storedEntry(message: stored.StoredMessage): Conversation {
  return {
    conversation_id: message.conversation_id,
    participants: [participantOf(message.conversation_id)],
    unread_count: message.sent ? 0 : 1,
    last_activity_at: message.delivered_at,
  };
}

function historicEntry({ id, person, unread, lastActivityAt }: HistoricConversation): Conversation {
  return {
    conversation_id: id,
    participants: [person.hashId],
    unread_count: unread,
    last_activity_at: lastActivityAt,
  };
}
