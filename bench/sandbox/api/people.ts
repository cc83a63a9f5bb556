import { wordsOf } from '../data/directory.js';
import type { Member } from '../data/members.js';
import { fingerprint } from '../data/seeded-random.js';
import { LOCATIONS } from '../data/words.js';
import { badRequest, json } from '../http/answer.js';
import type { Exchange, Route } from '../http/exchange.js';
import { LIMITS, ORIGIN } from '../limits.js';
import type { State } from '../state/state.js';
import { FACETS, facetsOf } from './people-facets.js';

/** Finding people: by public id, and by the text of their profiles. */
export function peopleRoutes(state: State): Route[] {
  return [
    {
      method: 'GET',
      path: '/api/members/resolve',
      access: 'api',
      capabilities: ['social.hash_ids.resolve'],
      answer: (exchange) => {
        const publicIds = exchange.query.only('publicIds').list('publicIds', LIMITS.resolve_ids);
        if (publicIds === null) throw badRequest('publicIds is missing.');
        const data = [];
        const missing = [];
        for (const publicId of new Set(publicIds)) {
          const member = state.directory.byPublicId(publicId);
          if (member === undefined) missing.push(publicId);
          else data.push({ publicId, hashId: member.hashId, memberId: member.memberId });
        }
        return json({ data, missing });
      },
    },
    {
      method: 'GET',
      path: '/api/search/people',
      access: 'api',
      capabilities: ['social.people.search'],
      answer: (exchange) => {
        const query = exchange.query.only('keywords', 'start', 'count', ...FACETS);
        const start = query.number('start', 0, LIMITS.search_start_rows) ?? 0;
        const count = query.number('count', 1, LIMITS.search_rows) ?? LIMITS.people_default_rows;
        const found = search(state, exchange);
        const rows = found.slice(start, start + pageLength(start, count));
        const data = rows.map((member) => personRow(state, exchange.viewer.member, member));
        return json({ data, paging: { start, count, total: found.length } });
      },
    },
  ];
}

function search(state: State, exchange: Exchange): Member[] {
  const keywords = exchange.query.text('keywords', 200);
  const facets = facetsOf(state, exchange);
  if (keywords === null && facets.length === 0) throw badRequest('Give keywords or a facet.');
  const candidates = state.directory.withWords(keywords === null ? [] : wordsOf(keywords));
  return facets.length === 0 ? candidates : candidates.filter((member) => facets.every((facet) => facet(member)));
}

/** Now and then a page ends early though more follows: members the viewer may not see are left out of it. */
function pageLength(start: number, count: number): number {
  return count > 1 && fingerprint(`${start}/${count}`) % 4 === 0 ? count - 1 : count;
}

function personRow(state: State, viewer: Member, member: Member): Record<string, unknown> {
  const { memberId, hashId, publicId, headline } = member;
  const distance = state.relationships.distance(viewer.hashId, hashId);
  const shared = distance === 'S' ? (fingerprint(`${viewer.hashId}${hashId}`) % 40) + 1 : 0;
  return {
    memberId,
    hashId,
    publicId,
    distance,
    name: `${member.firstName} ${member.lastName}`,
    headline,
    summary: null,
    location: LOCATIONS[member.location],
    profileUrl: `${ORIGIN}/in/${publicId}`,
    insights: shared === 0 ? [] : [`${shared} shared connection${shared === 1 ? '' : 's'}`],
    badgeHoverText: member.volunteer ? 'Open to volunteering' : null,
  };
}
