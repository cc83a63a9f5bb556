import { zipOf } from '../data/career.js';
import { LOCATIONS } from '../data/words.js';
import { badRequest, json, Refused } from '../http/answer.js';
import type { Exchange, Route } from '../http/exchange.js';
import { LIMITS } from '../limits.js';
import type { Contract } from '../state/seats.js';
import type { State } from '../state/state.js';
import { searchCandidates } from './recruiter-search.js';
import { suggestions, type TypeaheadItem } from './typeahead.js';

const KINDS = ['company', 'industry', 'job_title', 'location', 'school', 'skill', 'zip'] as const;

/** The recruiter side's endpoints. Each needs a seat, and a contract that this session has chosen. */
export function recruiterRoutes(state: State): Route[] {
  return [
    {
      method: 'GET',
      path: '/api/recruiter/seat',
      access: 'api',
      capabilities: ['social.recruiter.switch'],
      answer: (exchange) => {
        exchange.query.only();
        return json({ data: seatOf(state, exchange) });
      },
    },
    {
      method: 'GET',
      path: '/api/recruiter/typeahead',
      access: 'api',
      capabilities: ['social.recruiter.typeahead'],
      answer: (exchange) => {
        seatOf(state, exchange);
        const query = exchange.query.only('kind', 'q', 'count');
        const kind = query.choice('kind', KINDS);
        const text = query.text('q', 100);
        const count = query.number('count', 1, LIMITS.typeahead_items) ?? LIMITS.typeahead_default_items;
        if (kind === null || text === null) throw badRequest('kind or q is missing.');
        return json({ data: kind === 'zip' ? zips(text.trim(), count) : suggestions(state, kind, text, count) });
      },
    },
    {
      method: 'POST',
      path: '/api/recruiter/search',
      access: 'api',
      // The first search under a contract proves that the choice worked, and belongs to it.
      capabilities: ({ session }) => [
        state.seats.isFresh(session?.token ?? '') ? 'social.recruiter.switch' : 'social.recruiter.people.search',
      ],
      answer: (exchange) => {
        seatOf(state, exchange);
        state.seats.proven(exchange.session?.token ?? '');
        exchange.query.only();
        return searchCandidates(state, exchange);
      },
    },
  ];
}

function seatOf(state: State, exchange: Exchange): Contract {
  if (!exchange.viewer.settings.recruiter) {
    throw new Refused(403, 'recruiter_unavailable', 'Your account has no recruiter seat.');
  }
  const contract = state.seats.contractOf(exchange.session?.token ?? '');
  if (contract === undefined) throw new Refused(403, 'recruiter_contract_required', 'Choose a contract first.');
  return contract;
}

function zips(text: string, count: number): TypeaheadItem[] {
  return LOCATIONS.map((location, place) => ({ id: zipOf(place), kind: 'zip', text: zipOf(place), subtext: location }))
    .filter((item) => item.text.startsWith(text))
    .slice(0, count);
}
