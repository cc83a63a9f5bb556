import type { Directory } from '../data/directory.js';
import type { Relationships } from '../data/relationships.js';
import { SeededRandom, stableId } from '../data/seeded-random.js';
import { SENTENCES } from '../data/words.js';
import { LIMITS } from '../limits.js';

export const CATEGORIES = ['PRIMARY_INBOX', 'SECONDARY_INBOX', 'INMAIL', 'ARCHIVE', 'SPAM'] as const;
export type Category = (typeof CATEGORIES)[number];

export interface Message {
  urn: string;
  conversationId: string;
  senderHashId: string;
  body: string;
  /** Milliseconds since 1970. */
  deliveredAt: number;
  renderContent: Record<string, unknown>[];
}

/** A message on its way into the mailboxes of both its people. */
export interface Letter {
  message: Message;
  people: [string, string];
  /** Where a conversation that does not exist yet is filed. */
  category: Category;
  /** Uploads that the message carries; all `people` may read them from now on. */
  attachmentIds?: string[];
}

/** One account's side of a conversation. */
export interface Conversation {
  id: string;
  category: Category;
  otherHashId: string;
  unread: number;
  /** Oldest first. */
  messages: Message[];
}

/** Conversations of one account by id. */
export type Mailbox = Map<string, Conversation>;

/** How many conversations a new account finds in each category, at least and at most. */
const GENERATED: Record<Category, [number, number]> = {
  PRIMARY_INBOX: [28, 44],
  SECONDARY_INBOX: [9, 16],
  INMAIL: [5, 9],
  ARCHIVE: [6, 12],
  SPAM: [2, 5],
};

/**
 * The mailboxes of all accounts. A mailbox is generated when it is first read; what was delivered to it before is
 * added then, so that accounts that are not read cost nothing at the start.
 */
export class Mailboxes {
  readonly #directory: Directory;
  readonly #relationships: Relationships;
  readonly #open = new Map<string, Mailbox>();
  readonly #waiting = new Map<string, Letter[]>();

  constructor(directory: Directory, relationships: Relationships) {
    this.#directory = directory;
    this.#relationships = relationships;
  }

  of(hashId: string): Mailbox {
    const known = this.#open.get(hashId);
    if (known !== undefined) return known;
    const mailbox = this.#generate(hashId);
    this.#open.set(hashId, mailbox);
    for (const letter of this.#waiting.get(hashId) ?? []) file(mailbox, hashId, letter);
    this.#waiting.delete(hashId);
    return mailbox;
  }

  /** The id of the one conversation two people share, whether it exists yet or not. */
  conversationId(one: string, other: string): string {
    return `2-${stableId(32, this.#directory.seed, 'conversation', ...[one, other].sort())}`;
  }

  apply(letter: Letter): void {
    for (const hashId of letter.people) {
      const mailbox = this.#open.get(hashId);
      if (mailbox !== undefined) file(mailbox, hashId, letter);
      else {
        const waiting = this.#waiting.get(hashId);
        if (waiting === undefined) this.#waiting.set(hashId, [letter]);
        else waiting.push(letter);
      }
    }
  }

  #generate(hashId: string): Mailbox {
    const random = new SeededRandom(this.#directory.seed, 'mailbox', hashId);
    const known = [...this.#relationships.connectionsOf(hashId).keys()];
    const mailbox: Mailbox = new Map();
    for (const category of CATEGORIES) {
      const wanted = mailbox.size + random.between(...GENERATED[category]);
      let at = Date.UTC(2025, 0, 1);
      while (mailbox.size < wanted) {
        const stranger = this.#directory.members[random.between(0, LIMITS.members - 1)]?.hashId as string;
        const otherHashId = category === 'PRIMARY_INBOX' ? random.pick(known) : stranger;
        const id = this.conversationId(hashId, otherHashId);
        if (otherHashId === hashId || mailbox.has(id)) continue;
        at -= random.between(60_001, 5 * 86_400_000);
        const count = mailbox.size % 7 === 0 ? random.between(30, 70) : random.between(1, 14);
        const messages = this.#talk(random, id, [hashId, otherHashId], at, count);
        const unread = messages.at(-1)?.senderHashId === otherHashId && random.chance(0.3) ? 1 : 0;
        mailbox.set(id, { id, category, otherHashId, unread, messages });
      }
    }
    return mailbox;
  }

  /** `count` messages, the last one at `end`; now and then two share a millisecond. */
  #talk(random: SeededRandom, conversationId: string, people: [string, string], end: number, count: number): Message[] {
    const messages: Message[] = [];
    for (let deliveredAt = end, number = count; number > 0; number--) {
      messages.push({
        urn: `urn:social:message:5-${stableId(32, conversationId, number)}`,
        conversationId,
        senderHashId: random.pick(people),
        body: random.chance(0.5) ? random.pick(SENTENCES) : `${random.pick(SENTENCES)} ${random.pick(SENTENCES)}`,
        deliveredAt,
        renderContent: [],
      });
      if (!random.chance(0.1)) deliveredAt -= random.between(1_000, 4 * 3_600_000);
    }
    return messages.reverse();
  }
}

function file(mailbox: Mailbox, owner: string, letter: Letter): void {
  const { message, people, category } = letter;
  let conversation = mailbox.get(message.conversationId);
  if (conversation === undefined) {
    const otherHashId = people[0] === owner ? people[1] : people[0];
    conversation = { id: message.conversationId, category, otherHashId, unread: 0, messages: [] };
    mailbox.set(conversation.id, conversation);
  }
  conversation.messages.push(message);
  conversation.unread = message.senderHashId === owner ? 0 : conversation.unread + 1;
}
