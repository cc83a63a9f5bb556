import type { Typeahead, TypeaheadItem, TypeaheadKind } from '../../browser-pool/contract/discovery.js';
import type { RecruiterTypeahead } from '../../browser-pool/contract/recruiter.js';
import { contains, page } from './criteria.js';
import { LIMITS } from './limits.js';
import { allMembers, nameOf } from './people.js';
import type { SimulatedAnswer } from './request.js';
import * as vocabulary from './vocabulary.js';

/** Typeahead of the ordinary and the recruiter's search. The ids it gives are the ones the filters compare. */

const LISTS: Record<Exclude<TypeaheadKind, 'people'>, readonly string[]> = {
  company: vocabulary.COMPANIES,
  job_function: vocabulary.JOB_FUNCTIONS,
  industry: vocabulary.INDUSTRIES,
  location: vocabulary.LOCATIONS,
  school: vocabulary.SCHOOLS,
  skill: vocabulary.SKILLS,
  job_title: vocabulary.TITLES,
};

function itemsOf(kind: TypeaheadKind | 'zip', keyword: string): TypeaheadItem[] {
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
