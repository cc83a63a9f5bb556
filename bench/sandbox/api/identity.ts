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
        const { hashId, publicId, memberId, firstName, lastName, headline, ...rest } = shownMember(
          state,
          exchange.viewer,
        );
        const urn = `urn:social:member:${memberId}`;
        const pictureUrl = rest.hasPicture ? pictureOf(hashId) : null;
        return json({ data: { hashId, publicId, memberId, urn, firstName, lastName, headline, pictureUrl } });
      },
    },
  ];
}

export function pictureOf(hashId: Member['hashId']): string {
  return `https://${FILES_HOST}/pictures/${hashId}.png`;
}
