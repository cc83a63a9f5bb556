import type { tags } from 'typia';
import type { Integer, Keyword, SearchCount, SearchKeywords, SearchStart, Text } from './fields.js';
import type { Profile } from './identity.js';
import type { Signature } from './signature.js';

/** The recruiter's typeahead and candidate search (contract: "Discovery and search"). */

export type RecruiterTypeahead = Signature<
  'social.recruiter.typeahead',
  RecruiterTypeaheadInput,
  RecruiterTypeaheadResult
>;
export type SearchCandidates = Signature<
  'social.recruiter.people.search',
  RecruiterPeopleSearchInput,
  RecruiterSearchResult
>;

type Name = Text<1, 100>;

/** A code of a taxonomy, as a number or its digits. */
type Code = Integer<0, 2147483647> | (string & tags.Pattern<'^[0-9]{1,10}$'>);

export type FilterType = 'can_have' | 'must_have' | 'doesnt_have';

export type TimeScope = 'current_or_past' | 'current' | 'past' | 'past_not_current';

export type GeoScope = 'current' | 'preferred_not_current' | 'current_or_preferred';

export type NamedFilter = { name: Name; filter_type?: FilterType };

export type TitleFilter = NamedFilter & { title_id?: Code; time_scope?: TimeScope };

export type CompanyFilter = NamedFilter & { time_scope?: TimeScope };

export type LocationFilter = NamedFilter & { geo_scope?: GeoScope };

/** Every field that an entry of some list may have. */
export type AnyNamedFilter = TitleFilter & LocationFilter;

export type IntegerRange = { min?: Integer<0, 9999>; max?: Integer<0, 9999> };

/** Contract: "Recruiter search filters". */
export type RecruiterFilters = {
  titles?: (Name | TitleFilter)[];
  first_names?: Name[];
  last_names?: Name[];
  locations?: (Name | LocationFilter)[];
  skills?: (Name | NamedFilter)[];
  companies?: (Name | CompanyFilter)[];
  schools?: (Name | NamedFilter)[];
  industries?: (Name | NamedFilter)[];
  current_companies?: (Name | NamedFilter)[];
  past_companies?: (Name | NamedFilter)[];
  zip_codes?: Name[];
  /** Self-employed, 1–10, 11–50, 51–200, 201–500, 501–1000, 1001–5000, 5001–10000, 10000+. */
  company_sizes?: ('A' | 'B' | 'C' | 'D' | 'E' | 'F' | 'G' | 'H' | 'I')[];
  job_functions?: Code[];
  seniorities?: (Integer<1, 10> | (string & tags.Pattern<'^(?:[1-9]|10)$'>))[];
  /** First degree, second degree, group members, third degree and others. */
  networks?: ('F' | 'S' | 'A' | 'O')[];
  profile_languages?: ('en' | 'es' | 'zh' | 'de' | 'fr' | 'it' | 'pt' | 'nl' | 'in' | 'ms' | 'ro' | 'ru')[];
  /** One day, 2–7 days, 8–14, 15–30, 1–3 months. */
  recently_joined?: Integer<1, 5>;
  graduation_years?: IntegerRange;
  yoe?: IntegerRange;
  is_veteran?: boolean;
  /** Used with geographic criteria. */
  distance?: Integer<1, 2147483647>;
};

export type RecruiterTypeaheadKind = 'company' | 'industry' | 'job_title' | 'location' | 'school' | 'skill' | 'zip';

export type RecruiterTypeaheadInput = { kind: RecruiterTypeaheadKind; keyword: Keyword };

export interface RecruiterTypeaheadResult {
  kind: RecruiterTypeaheadKind;
  items: { id: string; name: string }[];
  state_revision: number;
}

/** Filters are checked when the search's turn comes, not when it is submitted (OPS-6). */
export type RecruiterPeopleSearchInput = {
  keywords?: SearchKeywords;
  start?: SearchStart;
  count?: SearchCount;
} & RecruiterFilters;

/**
 * The search as it is submitted: a filter only has to be one that exists. What it may hold is checked when the
 * operation's turn comes (OPS-6).
 */
export type RecruiterSearchSubmission = Pick<RecruiterPeopleSearchInput, 'keywords' | 'start' | 'count'> & {
  titles?: unknown[];
} & { [Filter in Exclude<keyof RecruiterFilters, 'titles'>]?: unknown };

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
