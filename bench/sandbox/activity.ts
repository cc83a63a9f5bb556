import { Draw } from './data/seeded-random.js';
import { LIMITS } from './limits.js';
import type { Post } from './mailer.js';
import { messagePayload } from './mailer.js';
import type { ActivityType } from './realtime.js';
import type { Account } from './state/accounts.js';
import type { Category } from './state/mailboxes.js';
import type { State } from './state/state.js';

/**
 * Makes something happen to an account from outside, so that reads show it as well, and gives the payload of the
 * frame that tells of it. What `data` says is used where it fits and stands in the payload in any case.
 */
export function stage(
  state: State,
  post: Post,
  account: Account,
  type: ActivityType,
  data: Record<string, unknown>,
): Record<string, unknown> {
  const own = account.member.hashId;
  const body = typeof data.body === 'string' ? data.body : 'Hello, do you have a minute?';
  switch (type) {
    case 'message_received': {
      const from = counterpart(state, account, data, 'senderHashId');
      return { ...letter(post, from, own, body, 'PRIMARY_INBOX'), ...data };
    }
    case 'message_sent': {
      const to = counterpart(state, account, data, 'recipientHashId');
      return { ...letter(post, own, to, body, 'PRIMARY_INBOX'), ...data };
    }
    case 'sponsored_inmail_received': {
      const from = stranger(state, own);
      const sent = letter(post, from, own, body, 'INMAIL');
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
  }
}

/** Files a message that nobody sent through the site: it stands in no ledger. */
function letter(post: Post, from: string, to: string, body: string, category: Category): Record<string, unknown> {
  const message = post.compose(from, to, body);
  post.file(message, to, category);
  return messagePayload(post.state, message, to);
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
  const draw = new Draw('stranger', own);
  for (;;) {
    const hashId = state.directory.members[draw.between(0, LIMITS.members - 1)]?.hashId ?? own;
    if (hashId !== own && state.acquaintance.distance(own, hashId) !== 'F') return hashId;
  }
}
