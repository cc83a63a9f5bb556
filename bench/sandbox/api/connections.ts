import type { Member } from '../data/members.js';
import { json } from '../http/answer.js';
import type { Route } from '../http/exchange.js';
import { LIMITS } from '../limits.js';
import type { State } from '../state/state.js';
import { pictureOf } from './identity.js';

export function connectionRoutes(state: State): Route[] {
  return [
    {
      method: 'GET',
      path: '/api/connections',
      access: 'api',
      capabilities: ['social.connections.list'],
      answer: (exchange) => {
        const query = exchange.query.only('start', 'count');
        const start = query.number('start', 0, LIMITS.connections_start_rows) ?? 0;
        const count = query.number('count', 1, LIMITS.search_rows) ?? LIMITS.connections_default_rows;
        const all = [...state.relationships.connectionsOf(exchange.viewer.member.hashId)];
        const data = all.slice(start, start + count).map(([hashId, connectedAt]) => {
          const member = state.directory.byHashId(hashId);
          return member === undefined ? { hashId, connectedAt } : { ...card(member), connectedAt };
        });
        return json({ data, paging: { start, count, total: all.length } });
      },
    },
  ];
}

/** A member in few words, as lists of people show it. */
export function card(member: Member): Record<string, unknown> {
  const { hashId, publicId, firstName, lastName, headline } = member;
  return { hashId, publicId, firstName, lastName, headline, pictureUrl: pictureOf(member) };
}
