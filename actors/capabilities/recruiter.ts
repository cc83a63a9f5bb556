import typia from 'typia';
import { LIMITS } from '../../browser-pool/contract/limits.js';
import type * as contract from '../../browser-pool/contract/recruiter.js';
import type { FieldError } from '../../storage/model/errors.js';
import { isPgSafeJson, PG_SAFE_JSON } from '../../storage/postgres/pg-safe-values.js';
import { searchCandidates } from '../simulated/recruiter-search.js';
import { recruiterTypeahead } from '../simulated/typeahead.js';
import { defineCapability } from './capability.js';
import { HASH_ID, PERSON } from './example-values.js';
import { FILTER_LISTS, validateRecruiterFilters } from './recruiter-filters.js';
import { hasContent, notBlank, refuse } from './rules.js';

const entriesAtMost = (list: string) => (list === 'titles' ? LIMITS.recruiter_titles : LIMITS.recruiter_list_entries);

const NO_CRITERIA: ReadonlySet<string> = new Set(['start', 'count']);

/** At submission a filter only has to be one that exists; what it may hold is checked in turn (OPS-6). */
function refineSearch(input: contract.RecruiterSearchSubmission): FieldError[] {
  const errors = Object.entries(input).flatMap(([key, value]): FieldError[] => {
    const path = `$input.${key}`;
    const atMost = entriesAtMost(key);
    if (Array.isArray(value) && value.length > atMost) return refuse(path, `at most ${atMost} entries`);
    return isPgSafeJson(value) ? [] : refuse(path, PG_SAFE_JSON);
  });
  if (errors.length > 0) return errors;
  const criteria = Object.entries(input).filter(([key, value]) => !NO_CRITERIA.has(key) && hasContent(value));
  return criteria.length > 0 ? [] : refuse('$input', 'at least one keyword, title or other filter');
}

const termsSuggest = defineCapability<contract.RecruiterTypeahead>({
  name: 'social.recruiter.typeahead',
  summary: 'Ids for recruiter filters, by the beginning of a name.',
  kind: 'read',
  send: false,
  needs: 'recruiter',
  sealed: false,
  validate: typia.createValidateEquals<contract.RecruiterTypeaheadInput>(),
  refine: (input) => notBlank(input, ['keyword']),
  schemas: typia.json.schemas<[contract.RecruiterTypeaheadInput, contract.RecruiterTypeaheadResult]>(),
  example: {
    input: { kind: 'skill', keyword: 'compil' },
    result: { kind: 'skill', items: [{ id: '7', name: 'Compilers' }], state_revision: 2 },
  },
  simulated: recruiterTypeahead,
});

const candidatesSearch = defineCapability<contract.SearchCandidates, contract.RecruiterSearchSubmission>({
  name: 'social.recruiter.people.search',
  summary:
    'Candidates, by at least one keyword, title or other filter. What a filter holds is checked when its turn comes and can then fail with `validation_error`.',
  kind: 'read',
  send: false,
  needs: 'recruiter',
  sealed: false,
  validate: typia.createValidateEquals<contract.RecruiterSearchSubmission>(),
  refine: refineSearch,
  checkInTurn: validateRecruiterFilters,
  bounds: Object.fromEntries(FILTER_LISTS.map((list) => [list, { maxItems: entriesAtMost(list) }])),
  schemas: typia.json.schemas<[contract.RecruiterPeopleSearchInput, contract.RecruiterSearchResult]>(),
  example: {
    input: { titles: [{ name: 'Engineer', time_scope: 'current' }], networks: ['F', 'S'], count: 10 },
    result: {
      candidates: [
        {
          source: 'recruiter',
          hash_id: HASH_ID,
          recruiting: { candidate_id: 'c1', open_to_work: false, years_of_experience: 40 },
          ...PERSON,
        },
      ],
      paging: { start: 0, count: 10, total: 1 },
      total: 1,
      formatted_total: '1',
      facets: [{ name: 'location', values: [{ value: 'New York', count: 1 }] }],
      query_summary: 'Engineer',
      highlight_terms: ['engineer'],
      state_revision: 2,
    },
  },
  simulated: searchCandidates,
});

/** The recruiter's part of "Discovery and search" in the contract. */
export const recruiter = [termsSuggest, candidatesSearch] as const;
