import type { Typeahead, TypeaheadItem } from '../../contract/discovery.js';
import { RunFailure, unexpectedAnswer } from '../../failures.js';
import { Endpoints } from '../access/endpoints.js';
import { isTypeahead, type SuggestionKind, type TypeaheadAnswer } from '../site/search-answers.js';
import { defineProgram } from './define.js';

/** Contract: social.typeahead. The ids can be used in search filters. */
const typeahead = defineProgram<Typeahead>('social.typeahead', async (run, site) => {
  const { kind, keyword } = run.input;
  const endpoints = await Endpoints.open(run, site);
  return { result: typeaheadResult(kind, await suggestions(endpoints, 'typeahead', kind, keyword)) };
});

/** The ordinary typeahead; the recruiter's stands with its search. */
export const typeaheadPrograms = [typeahead] as const;

/** What both typeaheads give. */
export function typeaheadResult<Kind extends string>(
  kind: Kind,
  items: TypeaheadAnswer['data'],
): { kind: Kind; items: TypeaheadItem[] } {
  return { kind, items: items.map(({ id, text }) => ({ id, name: text })) };
}

/** The ordinary typeahead, and the recruiter's. */
export type TypeaheadName = 'typeahead' | 'recruiterTypeahead';

/** Reads one of the two. */
export async function suggestions(
  endpoints: Endpoints,
  typeahead: TypeaheadName,
  kind: SuggestionKind,
  keyword: string,
): Promise<TypeaheadAnswer['data']> {
  const { data } = await endpoints.get(typeahead, { kind, keyword }, isTypeahead);
  if (data.some((item) => item.kind !== kind)) throw unexpectedAnswer('answer');
  return data;
}

/**
 * Turns names of one search into the ids that its facets take, each name looked up once. The provider puts an exact
 * match first, so the first suggestion is the one that is meant; a name without any cannot be searched for and ends
 * the run with `validation_error`, because leaving it out would find more than was searched for.
 */
export class NameResolver {
  #endpoints: Endpoints;
  #typeahead: TypeaheadName;
  #known = new Map<string, string>();

  /** `typeahead` is the one that belongs to the search. */
  constructor(endpoints: Endpoints, typeahead: TypeaheadName) {
    this.#endpoints = endpoints;
    this.#typeahead = typeahead;
  }

  /** `field` is the path of the name in the input, for the error. */
  async id(kind: SuggestionKind, name: string, field: string): Promise<string> {
    const key = `${kind} ${name.trim().toLowerCase()}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const [first] = await suggestions(this.#endpoints, this.#typeahead, kind, name);
    if (!first) {
      const errors = [{ path: field, expected: `a ${kind} the provider knows` }];
      throw new RunFailure('validation_error', { reason: 'name_not_found', errors });
    }
    this.#known.set(key, first.id);
    return first.id;
  }
}
