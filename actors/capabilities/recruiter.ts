import typia, { type tags } from 'typia';
import {
  type Keyword,
  RECRUITER_LIST_ENTRIES,
  RECRUITER_TITLES,
  type SearchCount,
  type SearchKeywords,
  type SearchStart,
} from '../../browser-pool/contract/fields.js';
import type { FieldError } from '../../storage/model/errors.js';
import { STORABLE, storable } from '../../storage/postgres/pg-safe-values.js';
import type { Profile } from './identity.js';
import { validateRecruiterFilters } from './recruiter-filters.js';
import { type CatalogueEntry, hasContent, refuse } from './rules.js';

/**
 * The recruiter's typeahead and candidate search (contract: "Discovery and search"). At submission a filter only has
 * to be one that exists; what it may hold is checked when its turn comes (`recruiter-filters.ts`, OPS-6).
 */

export type RecruiterTypeaheadKind = 'company' | 'industry' | 'job_title' | 'location' | 'school' | 'skill' | 'zip';
export type RecruiterTypeaheadInput = { kind: RecruiterTypeaheadKind; keyword: Keyword };
export interface RecruiterTypeaheadResult {
  kind: RecruiterTypeaheadKind;
  items: { id: string; name: string }[];
  state_revision: number;
}

export type RecruiterSearchInput = {
  keywords?: SearchKeywords;
  /** typia lists the bound in the schema but does not check it, the entries being unknown: `refineSearch` does. */
  titles?: unknown[] & tags.MaxItems<typeof RECRUITER_TITLES>;
  start?: SearchStart;
  count?: SearchCount;
  first_names?: unknown;
  last_names?: unknown;
  locations?: unknown;
  skills?: unknown;
  companies?: unknown;
  schools?: unknown;
  industries?: unknown;
  current_companies?: unknown;
  past_companies?: unknown;
  zip_codes?: unknown;
  company_sizes?: unknown;
  job_functions?: unknown;
  seniorities?: unknown;
  networks?: unknown;
  profile_languages?: unknown;
  recently_joined?: unknown;
  graduation_years?: unknown;
  yoe?: unknown;
  is_veteran?: unknown;
  distance?: unknown;
};
export interface RecruiterSearchResult {
  candidates: Candidate[];
  paging: { start: number; count: number; total: number };
  total: number;
  formatted_total: string;
  facets: Facet[];
  query_summary: string;
  highlight_terms: string[];
  state_revision: number;
}
/** The profile's shape and what only a recruiter sees. Without `hash_id` a candidate cannot be messaged at once. */
export interface Candidate extends Omit<Profile, 'hash_id' | 'source'> {
  source: 'recruiter';
  hash_id?: string | null;
  recruiting: { candidate_id: string; open_to_work: boolean; years_of_experience: number };
}
export interface Facet {
  name: string;
  values: { value: string; count: number }[];
}

const NO_CRITERIA: ReadonlySet<string> = new Set(['start', 'count']);

function refineSearch(input: Record<string, unknown>): FieldError[] {
  const errors = Object.entries(input).flatMap(([key, value]): FieldError[] => {
    const path = `$input.${key}`;
    const atMost = key === 'titles' ? RECRUITER_TITLES : RECRUITER_LIST_ENTRIES;
    if (Array.isArray(value) && value.length > atMost) return refuse(path, `at most ${atMost} entries`);
    return storable(value) ? [] : refuse(path, STORABLE);
  });
  if (errors.length > 0) return errors;
  const criteria = Object.entries(input).filter(([key, value]) => !NO_CRITERIA.has(key) && hasContent(value));
  return criteria.length > 0 ? [] : refuse('$input', 'at least one keyword, title or other filter');
}

export const recruiter: readonly CatalogueEntry[] = [
  {
    name: 'social.recruiter.typeahead',
    family: 'discovery',
    kind: 'read',
    send: false,
    needs: 'recruiter',
    sealed: false,
    validate: typia.createValidateEquals<RecruiterTypeaheadInput>(),
  },
  {
    name: 'social.recruiter.people.search',
    family: 'discovery',
    kind: 'read',
    send: false,
    needs: 'recruiter',
    sealed: false,
    validate: typia.createValidateEquals<RecruiterSearchInput>(),
    refine: refineSearch,
    checkInTurn: validateRecruiterFilters,
  },
];
