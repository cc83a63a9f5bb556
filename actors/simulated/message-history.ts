import type { ConversationsListInput, Message } from '../../browser-pool/contract/conversations.js';
import { conversationWith } from './names.js';
import type { Person } from './people.js';
import { DAY_MS, PAST_END_MS, type Self, walk } from './relationship.js';
import { between, mix, pick, seedOf } from './seeded-random.js';
import { SENTENCES } from './vocabulary.js';

/** The conversations every account begins with, drawn from it: nothing of them is stored. */

export type Category = NonNullable<ConversationsListInput['category']>;

export interface PastConversation {
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
const MESSAGES_AT_MOST = 45;
const BETWEEN_MESSAGES_MS = 3 * 3_600_000;

/** All of them, newest activity first. No two have the same moment. */
export function pastConversations(self: Self): PastConversation[] {
  let step = 0;
  const all = SIZES.flatMap(([category, low, high], salt) =>
    Array.from({ length: between(low, high, self.seed, 70 + salt) }, () => conversationAt(self, category, ++step)),
  );
  return all
    .filter((conversation) => conversation.person.slug !== self.slug)
    .sort((a, b) => b.lastActivityAt - a.lastActivityAt);
}

export function pastConversation(self: Self, id: string): PastConversation | undefined {
  return pastConversations(self).find((conversation) => conversation.id === id);
}

/** Its messages, newest first, the two sides in turn. */
export function pastMessages(self: Self, conversation: PastConversation): Message[] {
  const seed = seedOf(conversation.id);
  return Array.from({ length: conversation.messages }, (_, back) => ({
    message_urn: `urn:social:message:${conversation.id}:${conversation.messages - back}`,
    message_body: pick(SENTENCES, seed, back),
    sender_hash_id: mix(seed, 1000 + back) % 2 === 0 ? self.hashId : conversation.person.hashId,
    delivered_at: conversation.lastActivityAt - back * BETWEEN_MESSAGES_MS,
  }));
}

function conversationAt(self: Self, category: Category, step: number): PastConversation {
  const person = walk(self, step);
  const seed = mix(self.seed, person.seed);
  return {
    id: conversationWith(person.hashId),
    person,
    category,
    // The step keeps two of them from sharing a millisecond.
    lastActivityAt: PAST_END_MS - (1 + (seed % 300)) * DAY_MS - step,
    unread: category === 'PRIMARY_INBOX' ? mix(seed, 1) % 3 : 0,
    messages: between(1, MESSAGES_AT_MOST, seed, 2),
  };
}
