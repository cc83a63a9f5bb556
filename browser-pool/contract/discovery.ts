import type {
  FilterText,
  Integer,
  Keyword,
  PersonFilter,
  PersonId,
  SearchCount,
  SearchKeywords,
  SearchStart,
  Text,
} from './fields.js';
import type { Signature } from './signature.js';

/** Typeahead and the searches for people and jobs (contract: "Discovery and search"). */

export type Typeahead = Signature<'social.typeahead', TypeaheadInput, TypeaheadResult>;
export type SearchPeople = Signature<'social.people.search', PeopleSearchInput, PeopleSearchResult>;
export type SearchJobs = Signature<'social.jobs.search', JobsSearchInput, JobsSearchResult>;

/** What kind of thing the name is of. */
export type TypeaheadKind =
  | 'company'
  | 'job_function'
  | 'industry'
  | 'location'
  | 'people'
  | 'school'
  | 'skill'
  | 'job_title';
/** The beginning of a name. */
export type TypeaheadInput = {
  /** What kind of thing the name is of. */
  kind: TypeaheadKind;
  /** The beginning of the name, 1 to 100 characters. */
  keyword: Keyword;
};

/** What the provider suggests for the beginning of a name. */
export interface TypeaheadResult {
  /** The kind that was asked for. */
  kind: TypeaheadKind;
  /** Suggestions, the best first; empty when there is none. */
  items: TypeaheadItem[];
  /** Generation of the session that asked. */
  state_revision: number;
}

/** One suggestion. */
export interface TypeaheadItem {
  /** Its id, which search filters take; of `people` a hash id. */
  id: PersonId;
  /** Its name as the provider shows it. */
  name: string;
}

/**
 * Criteria of a people search. The provider decides what a value means; keys ending in `_name` are resolved to ids by its
 * typeahead.
 */
export type PeopleFilters = {
  /** Id of the place where the person lives. */
  location_id?: FilterText;
  /** Id of a company where the person works. */
  current_company_id?: FilterText;
  /** Id of a company where the person worked. */
  past_company_id?: FilterText;
  /** Id of the industry that the person works in. */
  industry_id?: FilterText;
  /** Distance in the network: `F` first degree, `S` second, `O` beyond. */
  network?: FilterText;
  /** Hash id of a person whose connections are meant. */
  connection_of?: PersonFilter;
  /** Hash id of a person whose followers are meant. */
  follower_of?: PersonFilter;
  /** Language of the profile, as a code such as `en`. */
  profile_language?: FilterText;
  /** Id of a school that the person went to. */
  school_id?: FilterText;
  /** Id of a service that the person offers. */
  service_category_id?: FilterText;
  /** First name of the person. */
  first_name?: FilterText;
  /** Last name of the person. */
  last_name?: FilterText;
  /** Words of the person's job title. */
  title?: FilterText;
  /** Words of the name of a company the person works or worked for. */
  company?: FilterText;
  /** Words of the name of a school the person went to. */
  school?: FilterText;
  /** Name of the place where the person lives, resolved to its id. */
  location_name?: FilterText;
  /** Name of a company where the person works, resolved to its id. */
  current_company_name?: FilterText;
  /** Name of a company where the person worked, resolved to its id. */
  past_company_name?: FilterText;
  /** Name of the industry that the person works in, resolved to its id. */
  industry_name?: FilterText;
  /** Name of a person whose connections are meant, resolved to an id. */
  connection_of_name?: FilterText;
  /** Name of a person whose followers are meant, resolved to an id. */
  follower_of_name?: FilterText;
  /** Name of a school that the person went to, resolved to its id. */
  school_name?: FilterText;
  /** Name of a service that the person offers, resolved to its id. */
  service_category_name?: FilterText;
  /** `true` finds only people who offer to volunteer. */
  open_to_volunteer?: boolean;
};

/** What people to look for: at least one keyword or filter. */
export type PeopleSearchInput = {
  /** Words that the profile holds, up to 200 characters. */
  keywords?: SearchKeywords;
  /** Criteria that a person has to meet, all of them. */
  filters?: PeopleFilters;
  /** How many rows to skip, 0 to 1000; 0 when it is absent. */
  start?: SearchStart;
  /** Rows at most, 1 to 50; a page may hold fewer. */
  count?: SearchCount;
};

/** A page of people. */
export interface PeopleSearchResult {
  /** The rows that were found; advance `start` by their number. */
  people: PersonRow[];
  /** The row that the page begins with. */
  start: number;
  /** Generation of the session that searched. */
  state_revision: number;
}

/** A person as a search shows them. */
export interface PersonRow {
  /** Numeric id of the member at the provider, null when it is not shown. */
  member_id: PersonId | null;
  /** Hash id of the person, which sends take; null when it is not shown. */
  hash_id: PersonId | null;
  /** Public slug of the profile, null when it is not shown. */
  public_id: PersonId | null;
  /** Steps between the account and the person in the network, null when the provider does not say. */
  member_distance: number | null;
  /** Full name, null when it is not shown. */
  name: string | null;
  /** Line below the name, null when there is none. */
  headline: string | null;
  /** Why the row matches, in the provider's words; null when there are none. */
  summary: string | null;
  /** Where the person lives, null when it is not shown. */
  location: string | null;
  /** Address of the public profile, null when there is none. */
  profile_url: PersonId | null;
  /** Remarks of the provider, such as shared connections; empty when there are none. */
  insights: string[];
  /** Words on the badge of the picture, null when there is none. */
  badgeHoverText: string | null;
}

/**
 * Criteria of a jobs search. The provider decides what a value means; keys ending in `_name` are resolved to ids by its
 * typeahead.
 */
export type JobFilters = {
  /** Id of the place of the job. */
  location_id?: FilterText;
  /** Id of the company that offers it. */
  company_id?: FilterText;
  /** How long ago it was posted, as the provider's code. */
  time_posted_range?: FilterText;
  /** Kind of employment, as the provider's code. */
  job_type?: FilterText;
  /** Order of the rows, as the provider's code. */
  sort_by?: FilterText;
  /** What the company commits itself to, as the provider's code. */
  commitment?: FilterText;
  /** Distance from the place, in the provider's unit. */
  distance?: FilterText;
  /** Experience that is asked for, as the provider's code. */
  experience_level?: FilterText;
  /** Id of the job's function. */
  function_id?: FilterText;
  /** Id of the industry of the company. */
  industry_id?: FilterText;
  /** Id of the town of the job. */
  populated_place_geo_id?: FilterText;
  /** Range of the salary, as the provider's code. */
  salary_bucket?: FilterText;
  /** Id of the job's title. */
  title_id?: FilterText;
  /** On site, remote or hybrid, as the provider's code. */
  workplace_type?: FilterText;
  /** Name of the place of the job, resolved to its id. */
  location_name?: FilterText;
  /** Name of the company that offers it, resolved to its id. */
  company_name?: FilterText;
  /** Name of the job's function, resolved to its id. */
  function_name?: FilterText;
  /** Name of the industry of the company, resolved to its id. */
  industry_name?: FilterText;
  /** Name of the town of the job, resolved to its id. */
  populated_place_name?: FilterText;
  /** Name of the job's title, resolved to its id. */
  title_name?: FilterText;
  /** `true` finds only jobs one can apply for on the network itself. */
  apply_with_linkedin?: boolean;
  /** `true` finds only jobs that few have applied for. */
  early_applicant?: boolean;
  /** `true` finds only jobs at companies where the account has connections. */
  in_your_network?: boolean;
};

/** What jobs to look for: at least one keyword or filter. */
export type JobsSearchInput = {
  /** Words that the job holds, up to 200 characters. */
  keywords?: SearchKeywords;
  /** Criteria that a job has to meet, all of them. */
  filters?: JobFilters;
  /** How many rows to skip, 0 to 1000; 0 when it is absent. */
  start?: SearchStart;
  /** Rows at most, 1 to 50; a page may hold fewer. */
  count?: SearchCount;
  /** The provider's name for how rows are decorated, up to 255 characters; its own choice when it is absent. */
  decoration_id?: Text<0, 255>;
  /** How many rows, from the first on, come with their details; 0 when it is absent. */
  job_details_count?: Integer<0, 1000>;
  /** The row, from 0, whose description comes first; 0 when it is absent. */
  job_posting_detail_description_start?: Integer<0, 1000>;
  /** How many rows from there on come with their description; as many as have details when it is absent. */
  job_posting_detail_description_count?: Integer<0, 1000>;
};

/** A page of jobs. */
export interface JobsSearchResult {
  /** The rows that were found; advance `start` by their number. */
  jobs: JobRow[];
  /** The row that the page begins with. */
  start: number;
  /** Generation of the session that searched. */
  state_revision: number;
}

/** A job as a search shows it; its details only where they were asked for and could be read. */
export interface JobRow {
  /** Id of the job at the provider. */
  job_id: string;
  /** Title of the job, null when it is not shown. */
  job_title: string | null;
  /** Address of the job's page, null when there is none. */
  job_url: string | null;
  /** Name of the company, null when it is not shown. */
  job_company: string | null;
  /** A remark of the provider, null when there is none. */
  job_insight: string | null;
  /** Where the job is, null when it is not shown. */
  job_location: string | null;
  /** Whether one can apply on the network itself, null when the provider does not say. */
  easy_apply: boolean | null;
  /** When it was posted again, in ISO 8601; null when it was not. */
  reposted_at: string | null;
  /** The company, with the job's details. */
  company?: JobCompany;
  /** The place, with the job's details; null when it is not shown. */
  location?: string | null;
  /** The job's description, with its details; null when there is none. */
  description?: string | null;
  /** How the job is posted, with its details. */
  posting?: JobPosting;
  /** How to apply, with the job's details. */
  application?: JobApplication;
}

/** The company that offers a job. */
export interface JobCompany {
  /** Id of the company at the provider, null when it is not shown. */
  company_id: string | null;
  /** Public slug of the company, null when there is none. */
  public_id: string | null;
  /** Name of the company, null when it is not shown. */
  name: string | null;
}

/** How a job is posted. */
export interface JobPosting {
  /** When it was posted, in ISO 8601; null when the provider does not say. */
  listed_at: string | null;
  /** Kind of employment, null when it is not shown. */
  employment_type: string | null;
  /** Experience that is asked for, null when it is not shown. */
  experience_level: string | null;
  /** On site, remote or hybrid; null when it is not shown. */
  workplace_type: string | null;
}

/** How one applies for a job. */
export interface JobApplication {
  /** Address where one applies, null when it is on the network itself. */
  apply_url: string | null;
  /** How many have applied, null when the provider does not say. */
  applicants: number | null;
  /** Whether applications are closed, null when the provider does not say. */
  closed: boolean | null;
}
