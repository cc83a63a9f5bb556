import type { JobRow, JobsSearchInput, SearchJobs } from '../../contract/discovery.js';
import { RunFailure, unexpectedAnswer } from '../../failures.js';
import { Endpoints } from '../access/endpoints.js';
import type { JobFacet } from '../site/endpoints.js';
import { isJob, isJobs, type JobAnswer, type JobFields } from '../site/search-answers.js';
import { defineProgram } from './define.js';
import { type FacetTable, facets } from './facets.js';
import { text, timestamp } from './profiles.js';
import { NameResolver } from './typeahead.js';

/** Filters by name: what takes the id, and the kind of name. */
const NAMED: FacetTable<JobFacet>['named'] = {
  location_name: { facet: 'location_id', kind: 'location' },
  company_name: { facet: 'company_id', kind: 'company' },
  function_name: { facet: 'function_id', kind: 'job_function' },
  industry_name: { facet: 'industry_id', kind: 'industry' },
  populated_place_name: { facet: 'populated_place_geo_id', kind: 'location' },
  title_name: { facet: 'title_id', kind: 'job_title' },
};

const DEFAULT_JOBS = 10;

/** Contract: social.jobs.search, "Row shapes". */
const searchJobs = defineProgram<SearchJobs>('social.jobs.search', async (run, site) => {
  const { input } = run;
  const { start = 0, count = DEFAULT_JOBS } = input;
  const endpoints = await Endpoints.open(run, site);
  const names = new NameResolver(endpoints, 'typeahead');
  const { parameters } = site.endpoints.jobSearch;
  const has = (facet: JobFacet) => parameters[facet] !== undefined;
  const search = {
    keywords: input.keywords?.trim() || undefined,
    start,
    count,
    decorationId: input.decoration_id || undefined,
    ...(await facets({ named: NAMED, has, single: site.singleFacets.jobs }, input.filters ?? {}, names)),
  };
  const { data, paging } = await endpoints.get('jobSearch', search, isJobs);
  if (paging.start !== start || data.length > count) throw unexpectedAnswer('answer');
  const jobs: JobRow[] = [];
  for (const [place, job] of data.entries()) {
    jobs.push({ ...jobRow(job), ...(await details(endpoints, job.jobId, partsAt(place, input))) });
  }
  return { result: { jobs, start } };
});

/** The search for jobs, with the details of each when they are requested. */
export const jobPrograms = [searchJobs] as const;

interface Parts {
  details: boolean;
  description: boolean;
}

/**
 * What the row at this place of the page carries beside itself: details in the first `job_details_count` rows, a
 * description in as many, or in those that the two description integers select.
 */
function partsAt(place: number, input: JobsSearchInput): Parts {
  const detailed = input.job_details_count ?? 0;
  const from = input.job_posting_detail_description_start ?? 0;
  const described = input.job_posting_detail_description_count ?? detailed;
  return { details: place < detailed, description: place >= from && place < from + described };
}

/** Fields of the job's own page; none when the provider does not give it. */
async function details(endpoints: Endpoints, id: string, parts: Parts): Promise<Partial<JobRow>> {
  if (!parts.details && !parts.description) return {};
  try {
    const { data } = await endpoints.get('job', { id }, isJob);
    if (data.jobId !== id) throw unexpectedAnswer('answer');
    return { ...(parts.details && detailFields(data)), ...(parts.description && { description: data.description }) };
  } catch (error) {
    if (error instanceof RunFailure && WITHHELD.has(error.code) && typeof error.details.upstream_status === 'number')
      return {};
    throw error;
  }
}

/** The job is gone since, or the provider refused this one; anything else is trouble of the whole run. */
const WITHHELD: ReadonlySet<string> = new Set(['provider_not_found', 'upstream_error']);

function jobRow(job: JobFields): JobRow {
  return {
    job_id: job.jobId,
    job_title: job.title,
    job_url: job.url,
    job_company: job.companyName,
    job_insight: job.insight,
    job_location: job.location,
    easy_apply: job.easyApply,
    reposted_at: timestamp(job.repostedAt),
  };
}

function detailFields(job: JobAnswer['data']): Pick<JobRow, 'company' | 'location' | 'posting' | 'application'> {
  const { company, location, listedAt, posting, application } = job;
  return {
    company: {
      company_id: company?.companyId ?? null,
      public_id: company?.publicId ?? null,
      name: company?.name ?? null,
    },
    location,
    posting: {
      listed_at: timestamp(listedAt),
      employment_type: posting?.jobType ?? null,
      experience_level: text(posting?.experience ?? null),
      workplace_type: text(posting?.workplaceType ?? null),
    },
    application: { apply_url: application?.url ?? null, applicants: application?.applicants ?? null, closed: null },
  };
}
