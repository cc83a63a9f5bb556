import { wordsOf } from '../data/directory.js';
import { facetId, TAXONOMY, type Taxonomy } from '../data/taxonomy.js';
import { LOCATIONS } from '../data/words.js';
import { badRequest, json } from '../http/answer.js';
import type { Route } from '../http/exchange.js';
import { LIMITS } from '../limits.js';
import type { State } from '../state/state.js';

const TYPEAHEAD_KINDS = [
  'company',
  'job_function',
  'industry',
  'location',
  'people',
  'school',
  'skill',
  'job_title',
  'service_category',
] as const;
type TypeaheadKind = (typeof TYPEAHEAD_KINDS)[number];

export interface TypeaheadItem {
  id: string;
  kind: string;
  text: string;
  subtext: string | null;
}

export function typeaheadRoutes(state: State): Route[] {
  return [
    {
      method: 'GET',
      path: '/api/typeahead',
      access: 'api',
      capabilities: ['social.typeahead'],
      answer: (exchange) => {
        const query = exchange.query.only('kind', 'q', 'count');
        const kind = query.choice('kind', TYPEAHEAD_KINDS);
        const text = query.text('q', 100);
        const count = query.number('count', 1, LIMITS.typeahead_items) ?? LIMITS.typeahead_default_items;
        if (kind === null || text === null) throw badRequest('kind or q is missing.');
        return json({ data: suggestions(state, kind, text, count) });
      },
    },
  ];
}

/** Entries whose words begin with the words of `text`, an exact match first. */
export function suggestions(state: State, kind: TypeaheadKind, text: string, count: number): TypeaheadItem[] {
  const asked = wordsOf(text);
  const whole = text.trim().toLowerCase();
  const fitting = entries(state, kind).filter((entry) => {
    const own = wordsOf(entry.text);
    return asked.length > 0 && asked.every((word) => own.some((other) => other.startsWith(word)));
  });
  return fitting
    .toSorted((a, b) => Number(b.text.toLowerCase() === whole) - Number(a.text.toLowerCase() === whole))
    .slice(0, count);
}

function entries(state: State, kind: TypeaheadKind): TypeaheadItem[] {
  switch (kind) {
    case 'company':
      return state.directory.companies.map(({ companyId, name, location }) => {
        return { id: companyId, kind, text: name, subtext: LOCATIONS[location] ?? null };
      });
    case 'people':
      return state.directory.members.map(({ hashId, firstName, lastName, headline }) => {
        return { id: hashId, kind, text: `${firstName} ${lastName}`, subtext: headline };
      });
    case 'service_category':
      return listed('service', kind);
    default:
      return listed(kind, kind);
  }
}

function listed(taxonomy: Taxonomy, kind: string): TypeaheadItem[] {
  return TAXONOMY[taxonomy].names.map((text, place) => ({ id: facetId(taxonomy, place), kind, text, subtext: null }));
}
