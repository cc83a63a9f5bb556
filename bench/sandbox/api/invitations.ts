import { randomInt, randomUUID } from 'node:crypto';
import typia, { type tags } from 'typia';
import { fingerprint } from '../data/seeded-random.js';
import { type Answer, badRequest, json, notFound, Refused } from '../http/answer.js';
import type { Exchange, Route } from '../http/exchange.js';
import { LIMITS } from '../limits.js';
import type { State } from '../state/state.js';
import { card } from './connections.js';

interface InvitationRequest {
  recipientHashId: string & tags.MaxLength<255>;
  message?: string & tags.MinLength<1>;
}

const validateInvitation = typia.createValidateEquals<InvitationRequest>();

export function invitationRoutes(state: State): Route[] {
  return [
    {
      method: 'POST',
      path: '/api/invitations',
      access: 'api',
      capabilities: ['social.invitation.send'],
      answer: (exchange) => invite(state, exchange),
    },
    {
      method: 'GET',
      path: '/api/invitations/sent',
      access: 'api',
      capabilities: ['social.invitations.sent.list'],
      answer: (exchange) => listSent(state, exchange),
    },
  ];
}

function invite(state: State, exchange: Exchange): Answer {
  exchange.query.only();
  const { recipientHashId, message = null } = exchange.json(validateInvitation);
  if ([...(message ?? '')].length > LIMITS.invitation_characters) throw badRequest('message is too long.');
  const { username, member } = exchange.viewer;
  const recipient = state.directory.byHashId(recipientHashId);
  if (recipient === undefined) throw notFound('member');
  if (recipientHashId === member.hashId) throw new Refused(422, 'self_target', 'You cannot invite yourself.');
  const pending = state.invitations.pendingTo(member.hashId, recipientHashId);
  if (state.relationships.distance(member.hashId, recipientHashId) === 'F') {
    return outcome(200, 'ALREADY_CONNECTED', 'You are connected already.', null);
  }
  if (pending !== undefined) {
    return outcome(200, 'INVITATION_PENDING', 'Your earlier invitation is still pending.', pending.invitationId);
  }
  if (state.accounts.ofMember(recipientHashId) === undefined && fingerprint(recipientHashId) % 40 === 0) {
    return outcome(200, 'CANNOT_INVITE', 'This member takes no invitations.', null);
  }
  const sentAt = Date.now();
  const invitationId = `7301${sentAt}${randomInt(10_000, 100_000)}`;
  const at = new Date(sentAt).toISOString();
  state.commit({
    type: 'invitation',
    from: member.hashId,
    invitation: { invitationId, recipientHashId, message, sentAt },
    entry: {
      id: randomUUID(),
      account: username,
      kind: 'invitation',
      target: recipientHashId,
      text: message ?? '',
      at,
    },
  });
  return outcome(201, 'INVITATION_SENT', 'Your invitation is on its way.', invitationId);
}

function outcome(status: number, code: string, message: string, invitationId: string | null): Answer {
  return json({ data: { code, message, invitationId } }, status);
}

function listSent(state: State, exchange: Exchange): Answer {
  const query = exchange.query.only('start', 'includeTotal');
  const start = query.number('start', 0, LIMITS.invitations_start_places) ?? 0;
  const includeTotal = query.flag('includeTotal') ?? false;
  if (start % LIMITS.invitations_window_places !== 0) throw badRequest('start is a multiple of ten.');
  const places = state.invitations.of(exchange.viewer.member.hashId);
  const end = start + LIMITS.invitations_window_places;
  const data = places.slice(start, end).flatMap((invitation) => {
    const recipient = invitation === null ? undefined : state.directory.byHashId(invitation.recipientHashId);
    if (invitation === null || recipient === undefined) return [];
    const { invitationId, sentAt, message } = invitation;
    return [{ invitationId, sentAt, message, recipient: card(recipient) }];
  });
  // The count comes from elsewhere on the real thing, and is not always there.
  const counted = includeTotal && start < 3 * LIMITS.invitations_window_places;
  const total = counted ? places.filter((invitation) => invitation !== null).length : null;
  return json({ data, paging: { start, nextStart: end < places.length ? end : null, total } });
}
