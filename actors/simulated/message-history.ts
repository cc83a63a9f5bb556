import type { ConversationsListInput, Message } from '../../browser-pool/contract/conversations.js';
import { LIMITS } from './limits.js';
import { conversationWith } from './names.js';
import type { Person } from './people.js';
import { DAY_MS, HISTORY_END_MS, type Self, walk } from './relationship.js';
import { between, mix, pick, seedOf } from './seeded-random.js';
import { SENTENCES } from './vocabulary.js';

/** The conversations every account begins with, computed from it: nothing of them is stored. */

export type Category = NonNullable<ConversationsListInput['category']>;

export interface HistoricConversation {
  id: string;
  person: Person;
  category: Category;
  lastActivityAt: number;
  unread: number;
  messages: number;
}

const SIZES: [Category, number, number][] = [
  ['PRIMARY_INBOX', 14, 30],
  ['SECONDARY_INBOX', 3, 8],
  ['INMAIL', 2, 5],
  ['ARCHIVE', 4, 9],
  ['SPAM', 1, 3],
];
const BETWEEN_MESSAGES_MS = 3 * 3_600_000;

/** All of them, newest activity first. No two have the same moment. */
export function historicConversations(self: Self): HistoricConversation[] {
  let step = 0;
  const all = SIZES.flatMap(([category, low, high], salt) =>
    Array.from({ length: between(low, high, self.seed, 70 + salt) }, () => conversationAt(self, category, ++step)),
  );
  return all
    .filter((conversation) => conversation.person.slug !== self.slug)
    .sort((a, b) => b.lastActivityAt - a.lastActivityAt);
}

export function historicConversation(self: Self, id: string): HistoricConversation | undefined {
  return historicConversations(self).find((conversation) => conversation.id === id);
}

/** Its messages, newest first, the two sides in turn. */
export function historicMessages(self: Self, conversation: HistoricConversation): Message[] {
  const seed = seedOf(conversation.id);
  return Array.from({ length: conversation.messages }, (_, back) => ({
    message_urn: `urn:social:message:${conversation.id}:${conversation.messages - back}`,
    message_body: pick(SENTENCES, seed, back),
    sender_hash_id: mix(seed, 1000 + back) % 2 === 0 ? self.hashId : conversation.person.hashId,
    delivered_at: conversation.lastActivityAt - back * BETWEEN_MESSAGES_MS,
  }));
}

function conversationAt(self: Self, category: Category, step: number): HistoricConversation {
  const person = walk(self, step);
  const seed = mix(self.seed, person.seed);
  return {
    id: conversationWith(person.hashId),
    person,
    category,
    // The step keeps two of them from sharing a millisecond.
    lastActivityAt: HISTORY_END_MS - (1 + (seed % 300)) * DAY_MS - step,
    unread: category === 'PRIMARY_INBOX' ? mix(seed, 1) % 3 : 0,
    messages: between(1, LIMITS.history_messages, seed, 2),
  };
}
