import typia, { type tags } from 'typia';
import type { TypeaheadKind } from '../../contract/discovery.js';
import type { PersonId } from '../../contract/fields.js';
import type { RecruiterTypeaheadKind } from '../../contract/recruiter.js';
import type { Milliseconds } from './answers.js';
import type { ProfileFields } from './directory-answers.js';

/** What the site answers to typeahead, jobs and the recruiter's searches (see `answers.ts` for the rule). */

/** Of either typeahead; categories of services are looked up for a filter only. */
export type SuggestionKind = TypeaheadKind | RecruiterTypeaheadKind | 'service_category';

export interface TypeaheadAnswer {
  data: { id: PersonId & tags.MinLength<1>; kind: SuggestionKind; text: string }[];
}
export const isTypeahead = typia.createIs<TypeaheadAnswer>();

export interface JobFields {
  jobId: string & tags.MinLength<1>;
  title: string | null;
  url: string | null;
  companyName: string | null;
  location: string | null;
  insight: string | null;
  easyApply: boolean | null;
  repostedAt: Milliseconds | null;
}

export interface JobsAnswer {
  data: JobFields[];
  paging: { start: number };
}
export const isJobs = typia.createIs<JobsAnswer>();

export interface JobAnswer {
  data: {
    jobId: string;
    location: string | null;
    listedAt: Milliseconds | null;
    company: { companyId: string | null; publicId: string | null; name: string | null } | null;
    description: string | null;
    posting: { jobType: string | null; experience: number | null; workplaceType: number | null } | null;
    application: { url: string | null; applicants: (number & tags.Type<'uint32'>) | null } | null;
  };
}
export const isJob = typia.createIs<JobAnswer>();

export interface CandidateFields extends ProfileFields {
  recruiting: { candidateId: string | null; openToWork: boolean | null; yearsOfExperience: number | null } | null;
}

export interface CandidatesAnswer {
  data: CandidateFields[];
  paging: { start: number; count: number; total: number & tags.Type<'uint32'> };
  formattedTotal: string;
  facets: { name: string; values: { id: string; text: string; count: number & tags.Type<'uint32'> }[] }[];
  querySummary: string;
  highlightTerms: string[];
}
export const isCandidates = typia.createIs<CandidatesAnswer>();
