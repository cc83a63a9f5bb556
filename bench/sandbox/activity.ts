import { SeededRandom } from './data/seeded-random.js';
import { LIMITS } from './limits.js';
import type { Mailer } from './mailer.js';
import { messagePayload } from './mailer.js';
import type { ActivityType } from './realtime.js';
import type { Account } from './state/accounts.js';
import type { Category } from './state/mailboxes.js';
import type { State } from './state/state.js';

/**
 * Makes an activity happen to an account from outside, so that reads show it as well, and gives the payload of its
 * frame. The fields of `data` decide what happens where they fit, and are laid over the payload in any case.
 */
export function performActivity(
  state: State,
  mailer: Mailer,
  account: Account,
  type: ActivityType,
  data: Record<string, unknown>,
): Record<string, unknown> {
  const own = account.member.hashId;
  const body = typeof data.body === 'string' ? data.body : 'Hello, do you have a minute?';
  switch (type) {
    case 'message_received': {
      const from = counterpart(state, account, data, 'senderHashId');
      return { ...letter(mailer, from, own, body, 'PRIMARY_INBOX'), ...data };
    }
    case 'message_sent': {
      const to = counterpart(state, account, data, 'recipientHashId');
      return { ...letter(mailer, own, to, body, 'PRIMARY_INBOX'), ...data };
    }
    case 'sponsored_inmail_received': {
      const from = stranger(state, own);
      const sent = letter(mailer, from, own, body, 'INMAIL');
      const { conversationId, messageUrn, deliveredAt } = sent;
      const sponsor = state.directory.nameOf(from);
      return { conversationId, messageUrn, sponsor, subject: 'An offer for you', body, deliveredAt, ...data };
    }
    case 'custom_connection_request_accepted': {
      const hashId = typeof data.hashId === 'string' ? data.hashId : stranger(state, own);
      const acceptedAt = Date.now();
      state.commit({ type: 'connected', one: own, other: hashId, at: acceptedAt });
      const publicId = state.directory.byHashId(hashId)?.publicId ?? null;
      return { hashId, publicId, name: state.directory.nameOf(hashId), acceptedAt, ...data };
    }
    default:
      return type satisfies never;
  }
}

/** Files a message that was not sent through the site: without a ledger entry. */
function letter(mailer: Mailer, from: string, to: string, body: string, category: Category): Record<string, unknown> {
  const message = mailer.compose(from, to, body);
  mailer.file(message, to, category);
  return messagePayload(mailer.state, message, to);
}

/** The other side: of the conversation that `data` names, else the member it names, else of the latest conversation. */
function counterpart(state: State, account: Account, data: Record<string, unknown>, field: string): string {
  const mailbox = state.mailboxes.of(account.member.hashId);
  const named = mailbox.get(String(data.conversationId));
  if (named !== undefined) return named.otherHashId;
  const member = state.directory.byHashId(String(data[field]));
  if (member !== undefined) return member.hashId;
  const [first] = mailbox.values();
  return first?.otherHashId ?? stranger(state, account.member.hashId);
}

/** A member the account is not connected with, the same until they connect. */
function stranger(state: State, own: string): string {
  const random = new SeededRandom('stranger', own);
  for (;;) {
    const hashId = state.directory.members[random.between(0, LIMITS.members - 1)]?.hashId ?? own;
    if (hashId !== own && state.relationships.distance(own, hashId) !== 'F') return hashId;
  }
}
