import type { tags } from 'typia';
import type { Integer, Keyword, PersonId, SearchCount, SearchKeywords, SearchStart, Text } from './fields.js';
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

/**
 * How a criterion counts: `can_have` ranks a match higher and is the default, `must_have` keeps only matches, `doesnt_have`
 * leaves them out.
 */
export type FilterType = 'can_have' | 'must_have' | 'doesnt_have';

/** When it holds: `current_or_past` is the default, `current` now, `past` before, `past_not_current` before but not now. */
export type TimeScope = 'current_or_past' | 'current' | 'past' | 'past_not_current';

/**
 * Which place is meant: `current` where the candidate lives, the default, `preferred_not_current` where they would move to,
 * `current_or_preferred` either.
 */
export type GeoScope = 'current' | 'preferred_not_current' | 'current_or_preferred';

/** A criterion by its name, which is looked up in the recruiter's typeahead. */
export type NamedFilter = {
  /** Name of what is meant. */
  name: Name;
  /** How the criterion counts; `can_have` when it is absent. */
  filter_type?: FilterType;
};

/** A job title. */
export type TitleFilter = NamedFilter & {
  /** Id of the title: then it is used as it is, and `name` is not looked up. */
  title_id?: Code;
  /** When the candidate holds or held it; `current_or_past` when it is absent. */
  time_scope?: TimeScope;
};

/** A company that the candidate works or worked for. */
export type CompanyFilter = NamedFilter & {
  /** When the candidate worked there; `current_or_past` when it is absent. */
  time_scope?: TimeScope;
};

/** A place. */
export type LocationFilter = NamedFilter & {
  /** Which place of the candidate is meant; `current` when it is absent. */
  geo_scope?: GeoScope;
};

/** Every field that an entry of some list may have. */
export type AnyNamedFilter = TitleFilter & LocationFilter;

/** A range of whole numbers; at least one of its ends is given. */
export type IntegerRange = {
  /** The least that is meant. */
  min?: Integer<0, 9999>;
  /** The most that is meant. */
  max?: Integer<0, 9999>;
};

/** What a candidate search looks for (contract: "Recruiter search filters"). */
export type RecruiterFilters = {
  /** Job titles, up to 10: names, or objects that say more. */
  titles?: (Name | TitleFilter)[];
  /** First names, any of them. */
  first_names?: Name[];
  /** Last names, any of them. */
  last_names?: Name[];
  /** Places: names, or objects that say more. */
  locations?: (Name | LocationFilter)[];
  /** Skills: names, or objects that say more. */
  skills?: (Name | NamedFilter)[];
  /** Companies of any time: names, or objects that say more. */
  companies?: (Name | CompanyFilter)[];
  /** Schools: names, or objects that say more. */
  schools?: (Name | NamedFilter)[];
  /** Industries: names, or objects that say more. */
  industries?: (Name | NamedFilter)[];
  /** Companies of today: names, or objects that say more. */
  current_companies?: (Name | NamedFilter)[];
  /** Companies of the past: names, or objects that say more. */
  past_companies?: (Name | NamedFilter)[];
  /** Postal codes, any of them. */
  zip_codes?: Name[];
  /**
   * Sizes of the company: `A` self-employed, `B` 1–10, `C` 11–50, `D` 51–200, `E` 201–500, `F` 501–1000, `G` 1001–5000, `H`
   * 5001–10000, `I` 10000 and more.
   */
  company_sizes?: ('A' | 'B' | 'C' | 'D' | 'E' | 'F' | 'G' | 'H' | 'I')[];
  /** Numeric codes of job functions, such as 8 for engineering. */
  job_functions?: Code[];
  /** Numeric codes of seniorities from 1 to 10, such as 4 for senior, 5 for manager and 6 for director. */
  seniorities?: (Integer<1, 10> | (string & tags.Pattern<'^(?:[1-9]|10)$'>))[];
  /**
   * Distances in the network: `F` first degree, `S` second degree, `A` members of the same groups, `O` third degree and others.
   */
  networks?: ('F' | 'S' | 'A' | 'O')[];
  /** Languages of the profile, as codes. */
  profile_languages?: ('en' | 'es' | 'zh' | 'de' | 'fr' | 'it' | 'pt' | 'nl' | 'in' | 'ms' | 'ro' | 'ru')[];
  /**
   * How long ago the candidate joined: 1 one day, 2 two to seven days, 3 eight to fourteen, 4 fifteen to thirty, 5 one to three
   * months.
   */
  recently_joined?: Integer<1, 5>;
  /** Years of graduation. */
  graduation_years?: IntegerRange;
  /** Years of experience. */
  yoe?: IntegerRange;
  /** `true` finds only veterans. */
  is_veteran?: boolean;
  /** Distance from the places or postal codes that are given beside it, in the provider's unit. */
  distance?: Integer<1, 2147483647>;
};

/** What kind of thing the name is of. */
export type RecruiterTypeaheadKind = 'company' | 'industry' | 'job_title' | 'location' | 'school' | 'skill' | 'zip';

/** The beginning of a name. */
export type RecruiterTypeaheadInput = {
  /** What kind of thing the name is of. */
  kind: RecruiterTypeaheadKind;
  /** The beginning of the name, 1 to 100 characters. */
  keyword: Keyword;
};

/** What the recruiter's typeahead suggests for the beginning of a name. */
export interface RecruiterTypeaheadResult {
  /** The kind that was asked for. */
  kind: RecruiterTypeaheadKind;
  /** Suggestions, the best first; empty when there is none. */
  items: {
    /** Its id, which recruiter filters take. */
    id: string;
    /** Its name as the provider shows it. */
    name: string;
  }[];
  /** Generation of the session that asked. */
  state_revision: number;
}

/**
 * What candidates to look for: at least one keyword, title or other filter. Filters are checked when the search's turn comes, not
 * when it is submitted.
 */
export type RecruiterPeopleSearchInput = {
  /** Words that the profile holds, up to 200 characters. */
  keywords?: SearchKeywords;
  /** How many candidates to skip, 0 to 1000; 0 when it is absent. */
  start?: SearchStart;
  /** Candidates at most, 1 to 50; a page may hold fewer. */
  count?: SearchCount;
} & RecruiterFilters;

/**
 * The search as it is submitted: a filter only has to be one that exists. What it may hold is checked when the
 * operation's turn comes (OPS-6).
 */
export type RecruiterSearchSubmission = Pick<RecruiterPeopleSearchInput, 'keywords' | 'start' | 'count'> & {
  titles?: unknown[];
} & { [Filter in Exclude<keyof RecruiterFilters, 'titles'>]?: unknown };

/** A page of candidates. An empty one is a valid answer, and proves a working recruiter session. */
export interface RecruiterSearchResult {
  /** The candidates that were found. */
  candidates: Candidate[];
  /** Which page this is. */
  paging: {
    /** The candidate that the page begins with. */
    start: number;
    /** Candidates at most on a page. */
    count: number;
    /** How many candidates there are in all. */
    total: number;
  };
  /** How many candidates there are in all. */
  total: number;
  /** The same number as the provider writes it. */
  formatted_total: string;
  /** How the candidates spread over values of the filters. */
  facets: Facet[];
  /** The search in the provider's words. */
  query_summary: string;
  /** Words to highlight in the candidates. */
  highlight_terms: string[];
  /** Generation of the session that searched. */
  state_revision: number;
}

/**
 * A person as a recruiter sees them: the shape of a profile, and what only a recruiter is shown. Without `hash_id` a candidate
 * cannot be messaged at once.
 */
export interface Candidate extends Omit<Profile, 'hash_id' | 'source'> {
  /** Always `recruiter`: the recruiter's search found the person. */
  source: 'recruiter';
  /** Hash id of the person, which sends take; absent or null when the search does not show it. */
  hash_id?: PersonId | null;
  /** What only a recruiter is shown. */
  recruiting: {
    /** Id of the candidate in the recruiter's tool, null when it is not shown. */
    candidate_id: PersonId | null;
    /** Whether the person says that they look for work, null when the provider does not say. */
    open_to_work: boolean | null;
    /** Years of experience as the provider counts them, null when it does not say. */
    years_of_experience: number | null;
  };
}

/** How the candidates spread over the values of one filter. */
export interface Facet {
  /** Name of the filter. */
  name: string;
  /** Its values, the most frequent first. */
  values: {
    /** A value of the filter. */
    value: string;
    /** How many candidates have it. */
    count: number;
  }[];
}
