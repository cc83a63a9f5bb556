import type { FilterText, Integer, Keyword, SearchCount, SearchKeywords, SearchStart, Text } from './fields.js';
import type { Signature } from './signature.js';

/** Typeahead and the searches for people and jobs (contract: "Discovery and search"). */

export type Typeahead = Signature<'social.typeahead', TypeaheadInput, TypeaheadResult>;
export type SearchPeople = Signature<'social.people.search', PeopleSearchInput, PeopleSearchResult>;
export type SearchJobs = Signature<'social.jobs.search', JobsSearchInput, JobsSearchResult>;

export type TypeaheadKind =
  | 'company'
  | 'job_function'
  | 'industry'
  | 'location'
  | 'people'
  | 'school'
  | 'skill'
  | 'job_title';
export type TypeaheadInput = { kind: TypeaheadKind; keyword: Keyword };

export interface TypeaheadResult {
  kind: TypeaheadKind;
  items: TypeaheadItem[];
  state_revision: number;
}

export interface TypeaheadItem {
  /** Can be used in search filters. */
  id: string;
  name: string;
}

export type PeopleFilters = {
  location_id?: FilterText;
  current_company_id?: FilterText;
  past_company_id?: FilterText;
  industry_id?: FilterText;
  network?: FilterText;
  connection_of?: FilterText;
  follower_of?: FilterText;
  profile_language?: FilterText;
  school_id?: FilterText;
  service_category_id?: FilterText;
  first_name?: FilterText;
  last_name?: FilterText;
  title?: FilterText;
  company?: FilterText;
  school?: FilterText;
  location_name?: FilterText;
  current_company_name?: FilterText;
  past_company_name?: FilterText;
  industry_name?: FilterText;
  connection_of_name?: FilterText;
  follower_of_name?: FilterText;
  school_name?: FilterText;
  service_category_name?: FilterText;
  open_to_volunteer?: boolean;
};

export type PeopleSearchInput = {
  keywords?: SearchKeywords;
  filters?: PeopleFilters;
  start?: SearchStart;
  count?: SearchCount;
};

export interface PeopleSearchResult {
  people: PersonRow[];
  start: number;
  state_revision: number;
}

export interface PersonRow {
  member_id: string | null;
  hash_id: string | null;
  public_id: string | null;
  member_distance: number | null;
  name: string | null;
  headline: string | null;
  summary: string | null;
  location: string | null;
  profile_url: string | null;
  insights: string[];
  badgeHoverText: string | null;
}

export type JobFilters = {
  location_id?: FilterText;
  company_id?: FilterText;
  time_posted_range?: FilterText;
  job_type?: FilterText;
  sort_by?: FilterText;
  commitment?: FilterText;
  distance?: FilterText;
  experience_level?: FilterText;
  function_id?: FilterText;
  industry_id?: FilterText;
  populated_place_geo_id?: FilterText;
  salary_bucket?: FilterText;
  title_id?: FilterText;
  workplace_type?: FilterText;
  location_name?: FilterText;
  company_name?: FilterText;
  function_name?: FilterText;
  industry_name?: FilterText;
  populated_place_name?: FilterText;
  title_name?: FilterText;
  apply_with_linkedin?: boolean;
  early_applicant?: boolean;
  in_your_network?: boolean;
};

export type JobsSearchInput = {
  keywords?: SearchKeywords;
  filters?: JobFilters;
  start?: SearchStart;
  count?: SearchCount;
  decoration_id?: Text<0, 255>;
  job_details_count?: Integer<0, 1000>;
  job_posting_detail_description_start?: Integer<0, 1000>;
  job_posting_detail_description_count?: Integer<0, 1000>;
};

export interface JobsSearchResult {
  jobs: JobRow[];
  start: number;
  state_revision: number;
}

export interface JobRow {
  job_id: string;
  job_title: string | null;
  job_url: string | null;
  job_company: string | null;
  job_insight: string | null;
  job_location: string | null;
  easy_apply: boolean | null;
  reposted_at: string | null;
  /** From here on: only when the job's detail was retrieved. */
  company?: JobCompany;
  location?: string;
  description?: string;
  posting?: JobPosting;
  application?: JobApplication;
}

export interface JobCompany {
  company_id: string | null;
  public_id: string | null;
  name: string | null;
}

export interface JobPosting {
  listed_at: string | null;
  employment_type: string | null;
  experience_level: string | null;
  workplace_type: string | null;
}

export interface JobApplication {
  apply_url: string | null;
  applicants: number | null;
  closed: boolean | null;
}
