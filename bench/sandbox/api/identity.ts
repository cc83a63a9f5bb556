import type { Member } from '../data/members.js';
import { json } from '../http/answer.js';
import type { Route } from '../http/exchange.js';
import { FILES_HOST } from '../limits.js';
import { shownMember } from '../state/identity.js';
import type { State } from '../state/state.js';

export function identityRoutes(state: State): Route[] {
  return [
    {
      method: 'GET',
      path: '/api/me',
      access: 'api',
      capabilities: ['social.identity.get'],
      answer: (exchange) => {
        exchange.query.only();
        const member = shownMember(state, exchange.viewer);
        const { hashId, publicId, memberId, firstName, lastName, headline } = member;
        const urn = `urn:social:member:${memberId}`;
        const pictureUrl = pictureOf(member);
        return json({ data: { hashId, publicId, memberId, urn, firstName, lastName, headline, pictureUrl } });
      },
    },
  ];
}

/** Where a member's picture stands; null when there is none. */
export function pictureOf(member: Member): string | null {
  return member.hasPicture ? `https://${FILES_HOST}/pictures/${member.hashId}.png` : null;
}
