import { RunFailure } from '../../failures.js';
import type { Query } from '../access/endpoints.js';
import type { NameResolver } from './typeahead.js';

/**
 * How the filters of a search become the site's facets: by id or value as they are, or by a name that typeahead turns
 * into an id (contract: "Discovery and search").
 */
export interface FacetTable {
  /** Facet by filter. */
  plain: Record<string, string>;
  /** Facet and kind of name by filter. */
  named: Record<string, { facet: string; kind: string }>;
  /** Facets that take one value only; all others take several, any of which fits. */
  single: ReadonlySet<string>;
}

export type Filters = Record<string, string | boolean>;

/** The query for these filters. A blank one selects nothing. */
export async function facets(table: FacetTable, filters: Filters, names: NameResolver): Promise<Query> {
  const query: Query = {};
  for (const [filter, value] of Object.entries(filters)) {
    if (typeof value === 'string' && value.trim() === '') continue;
    const named = table.named[filter];
    const facet = named?.facet ?? table.plain[filter];
    if (facet === undefined) throw misused(filter, 'filter_not_available_on_provider');
    const wanted = named ? await names.id(named.kind, String(value), `input.filters.${filter}`) : String(value);
    const already = query[facet];
    if (already !== undefined && table.single.has(facet)) throw misused(filter, 'filter_given_twice');
    query[facet] = already === undefined ? wanted : `${already},${wanted}`;
  }
  return query;
}

function misused(filter: string, reason: string): RunFailure {
  return new RunFailure('validation_error', {
    reason,
    errors: [{ path: `input.filters.${filter}`, expected: 'another filter' }],
  });
}
