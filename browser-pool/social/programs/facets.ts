import { RunFailure } from '../../failures.js';
import type { SuggestionKind } from '../site/search-answers.js';
import type { NameResolver } from './typeahead.js';

/**
 * How the filters of a search become what the site's search takes: by id or value as they are, or by a name that typeahead
 * turns into an id (contract: "Discovery and search").
 */
export interface FacetTable<Facet extends string> {
  /** By filter that names something: what takes its id, and the kind of name. */
  named: Record<string, { facet: Facet; kind: SuggestionKind }>;
  /** Which the site has. */
  has: (facet: Facet) => boolean;
  /** Those that take one value only; all others take several, any of which fits. */
  single: readonly Facet[];
}

export type Filters = Record<string, string | boolean>;

/** The search's parameters for these filters. A blank one selects nothing. */
export async function facets<Facet extends string>(
  table: FacetTable<Facet>,
  filters: Filters,
  names: NameResolver,
): Promise<{ [Name in Facet]?: string }> {
  const wanted: { [Name in Facet]?: string } = {};
  for (const [filter, value] of Object.entries(filters)) {
    if (typeof value === 'string' && value.trim() === '') continue;
    const named = table.named[filter];
    const facet = named?.facet ?? (filter as Facet);
    if (!table.has(facet)) throw misused(filter, 'filter_not_available_on_provider');
    const id = named ? await names.id(named.kind, String(value), `input.filters.${filter}`) : String(value);
    const already = wanted[facet];
    if (already !== undefined && table.single.includes(facet)) throw misused(filter, 'filter_given_twice');
    wanted[facet] = already === undefined ? id : `${already},${id}`;
  }
  return wanted;
}

function misused(filter: string, reason: string): RunFailure {
  return new RunFailure('validation_error', {
    reason,
    errors: [{ path: `input.filters.${filter}`, expected: 'another filter' }],
  });
}
