import type { Streams } from './realtime.js';
import type { Account } from './state/accounts.js';
import { type Attachment, attachmentContent } from './state/attachments.js';
import type { LedgerEntry } from './state/ledger.js';
import type { Category, Letter, Message } from './state/mailboxes.js';
import { unguessable } from './state/sessions.js';
import type { State } from './state/state.js';

/** A message as its sender wrote it. */
export interface Draft {
  body: string;
  renderContent: Record<string, unknown>[];
  attachments: Attachment[];
}

/** Carries messages: into both mailboxes and the ledger in one commit, then onto the streams of both people. */
export class Mailer {
  readonly #streams: Streams;
  constructor(
    readonly state: State,
    streams: Streams,
  ) {
    this.#streams = streams;
  }

  /** A message that an account sent through the site. Committed when this returns. */
  send(from: Account, to: string, draft: Draft, entry: Omit<LedgerEntry, 'at'>): Message {
    const { body, renderContent, attachments } = draft;
    const content = [...renderContent, ...attachments.map(attachmentContent)];
    const message = this.compose(from.member.hashId, to, body, content);
    const at = new Date(message.deliveredAt).toISOString();
    const attachmentIds = attachments.map(({ id }) => id);
    this.#deliver(
      { message, people: [message.senderHashId, to], category: 'PRIMARY_INBOX', attachmentIds },
      { ...entry, at },
    );
    this.#announce(message, to);
    return message;
  }

  /** Files a message that was not sent through the site: without a ledger entry, and without a frame on a stream. */
  file(message: Message, to: string, category: Category): void {
    this.#deliver({ message, people: [message.senderHashId, to], category }, null);
  }

  /** A message that is not delivered yet, stamped later than everything in its conversation. */
  compose(from: string, to: string, body: string, renderContent: Record<string, unknown>[] = []): Message {
    const { mailboxes, accounts } = this.state;
    const conversationId = mailboxes.conversationId(from, to);
    const owner = accounts.ofMember(from) === undefined ? to : from;
    const last = mailboxes.of(owner).get(conversationId)?.messages.at(-1)?.deliveredAt ?? 0;
    return {
      urn: `urn:social:message:5-${unguessable()}`,
      conversationId,
      senderHashId: from,
      body,
      deliveredAt: Math.max(Date.now(), last + 1),
      renderContent,
    };
  }

  #deliver(letter: Letter, entry: LedgerEntry | null): void {
    this.state.commit({ type: 'letter', letter, entry });
  }

  /** Sends the frames to both people's open streams. */
  #announce(message: Message, to: string): void {
    const payload = messagePayload(this.state, message, to);
    const sender = this.state.accounts.ofMember(message.senderHashId);
    const receiver = this.state.accounts.ofMember(to);
    if (sender !== undefined) this.#streams.emit(sender.username, 'message_sent', payload);
    if (receiver !== undefined) this.#streams.emit(receiver.username, 'message_received', payload);
  }
}

/** The payload of the frames `message_sent` and `message_received`. */
export function messagePayload(state: State, message: Message, to: string): Record<string, unknown> {
  return {
    conversationId: message.conversationId,
    messageUrn: message.urn,
    senderHashId: message.senderHashId,
    senderName: state.directory.nameOf(message.senderHashId),
    recipientHashIds: [to],
    body: message.body,
    deliveredAt: message.deliveredAt,
    renderContent: message.renderContent,
  };
}
