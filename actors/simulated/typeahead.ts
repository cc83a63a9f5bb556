import type { Typeahead, TypeaheadItem, TypeaheadKind } from '../../browser-pool/contract/discovery.js';
import type { RecruiterTypeahead } from '../../browser-pool/contract/recruiter.js';
import type { FieldError } from '../../storage/model/errors.js';
import { contains, page } from './criteria.js';
import { LIMITS } from './limits.js';
import { allMembers, nameOf } from './people.js';
import type { SimulatedAnswer } from './request.js';
import { withoutTriggers } from './triggers.js';
import * as vocabulary from './vocabulary.js';

/** Typeahead of the ordinary and the recruiter's search. The ids it gives are the ones the filters compare. */

/** What a name in a filter may be of: the kinds of the typeahead, and one that only searches know. */
export type NameKind = TypeaheadKind | 'service_category';

const LISTS: Record<Exclude<NameKind, 'people'>, readonly string[]> = {
  company: vocabulary.COMPANIES,
  job_function: vocabulary.JOB_FUNCTIONS,
  industry: vocabulary.INDUSTRIES,
  location: vocabulary.LOCATIONS,
  school: vocabulary.SCHOOLS,
  skill: vocabulary.SKILLS,
  job_title: vocabulary.TITLES,
  service_category: vocabulary.SERVICE_CATEGORIES,
};

/** The id that a name stands for in a filter: of what has just this name, else of the first that is suggested. */
export function idNamed(kind: NameKind, name: string): string | undefined {
  const wanted = withoutTriggers(name).trim().toLowerCase();
  const items = itemsOf(kind, name);
  return (items.find((item) => item.name.toLowerCase() === wanted) ?? items[0])?.id;
}

/** The names of these filters that stand for nothing, as errors. Blank ones select nothing. */
export function unknownNames(kinds: Readonly<Record<string, NameKind>>, filters: object = {}): FieldError[] {
  return Object.entries(filters).flatMap(([filter, name]) => {
    const kind = kinds[filter];
    if (!kind || typeof name !== 'string' || name.trim() === '' || idNamed(kind, name) !== undefined) return [];
    return [{ path: `input.filters.${filter}`, expected: `a ${kind} the provider knows` }];
  });
}

function itemsOf(kind: NameKind | 'zip', keyword: string): TypeaheadItem[] {
  const matches = ({ name }: TypeaheadItem) => contains(name, keyword);
  if (kind === 'people') {
    return page(allMembers(), (person) => contains(nameOf(person), keyword), 0, LIMITS.typeahead_items).map(
      (person) => ({
        id: person.hashId,
        name: nameOf(person),
      }),
    );
  }
  const items =
    kind === 'zip'
      ? vocabulary.ZIP_CODES.map((zip) => ({ id: zip, name: zip }))
      : LISTS[kind].map((name, place) => ({ id: String(vocabulary.ID_BASE[kind] + place), name }));
  return page(items, matches, 0, LIMITS.typeahead_items);
}

export const typeahead: SimulatedAnswer<Typeahead> = ({ input: { kind, keyword } }) => ({
  result: { kind, items: itemsOf(kind, keyword) },
});

export const recruiterTypeahead: SimulatedAnswer<RecruiterTypeahead> = ({ input: { kind, keyword } }) => ({
  result: { kind, items: itemsOf(kind, keyword) },
});
