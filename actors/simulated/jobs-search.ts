import type { JobFilters, JobRow, JobsSearchInput, SearchJobs } from '../../browser-pool/contract/discovery.js';
import { companyFor } from './companies.js';
import { allOf, type Criteria, matcher, page } from './criteria.js';
import { allJobs, descriptionOf, type Job } from './jobs.js';
import { allMembers, word } from './people.js';
import { DEFAULT_COUNT } from './people-search.js';
import { HISTORY_END_MS, relationshipTo, type Self } from './relationship.js';
import type { SimulatedAnswer } from './request.js';
import { idNamed, type NameKind, unknownNames } from './typeahead.js';
import { COMPANY_INDUSTRY, ID_BASE, LOCATIONS, TITLES } from './vocabulary.js';

/** Jobs search (contract: "Discovery and search"). The meaning of the provider's codes is settled here, for lack of one. */

const EARLY_APPLICANTS = 10;
type Test = (job: Job) => boolean;

const code =
  (value: (job: Job) => string | number) =>
  (wanted: string): Test =>
  (job) =>
    wanted.split(',').includes(String(value(job)));

/** Filters that take a name, and what it is the name of. */
const NAMED = {
  location_name: 'location',
  company_name: 'company',
  function_name: 'job_function',
  industry_name: 'industry',
  populated_place_name: 'location',
  title_name: 'job_title',
} as const satisfies Partial<Record<keyof JobFilters, NameKind>>;

/** The test of the id that a name stands for. */
const byName =
  (filter: keyof typeof NAMED, test: (id: string) => Test) =>
  (name: string): Test => {
    const id = idNamed(NAMED[filter], name);
    return id === undefined ? () => false : test(id);
  };

function criteriaFor(self: Self): Criteria<JobFilters, Job> {
  const location = code((job) => ID_BASE.location + job.location);
  const company = code((job) => ID_BASE.company + job.company);
  const jobFunction = code((job) => job.jobFunction);
  const industry = code((job) => ID_BASE.industry + (COMPANY_INDUSTRY[job.company] ?? 0));
  const title = code((job) => ID_BASE.job_title + job.title);
  return {
    location_id: location,
    company_id: company,
    // `r86400`: posted within so many seconds before the end of the computed history.
    time_posted_range: (wanted) => (job) => job.postedAt >= HISTORY_END_MS - 1000 * numberIn(wanted),
    job_type: code((job) => job.jobType),
    sort_by: () => () => true,
    commitment: code((job) => job.commitment),
    distance: (wanted) => (job) => job.distance <= numberIn(wanted),
    experience_level: code((job) => job.experienceLevel),
    function_id: jobFunction,
    industry_id: industry,
    populated_place_geo_id: location,
    salary_bucket: (wanted) => (job) => job.salaryBucket >= numberIn(wanted),
    title_id: title,
    workplace_type: code((job) => job.workplaceType),
    location_name: byName('location_name', location),
    company_name: byName('company_name', company),
    function_name: byName('function_name', jobFunction),
    industry_name: byName('industry_name', industry),
    populated_place_name: byName('populated_place_name', location),
    title_name: byName('title_name', title),
    apply_with_linkedin: (wanted) => (job) => job.easyApply === wanted,
    early_applicant: (wanted) => (job) => job.applicants < EARLY_APPLICANTS === wanted,
    in_your_network: (wanted) => {
      const known = allMembers().filter((person) => relationshipTo(self, person.slug) === 'connected');
      const employers = new Set(known.map((person) => person.company));
      return (job) => employers.has(job.company) === wanted;
    },
  };
}

const numberIn = (text: string) => Number(/\d+/.exec(text)?.[0] ?? 0);

export const searchJobs: SimulatedAnswer<SearchJobs> = ({ input, self }) => {
  const start = input.start ?? 0;
  const unknown = unknownNames(NAMED, input.filters);
  if (unknown.length > 0) return { invalid: unknown };
  const worded = matcher(input.keywords);
  const filtered = allOf(criteriaFor(self), input.filters);
  const newestFirst = input.filters?.sort_by?.toUpperCase().startsWith('D');
  const jobs = newestFirst ? allJobs().toSorted((a, b) => b.postedAt - a.postedAt) : allJobs();
  const found = page(jobs, (job) => worded(job.text) && filtered(job), start, input.count ?? DEFAULT_COUNT);
  return { result: { jobs: found.map((job, place) => rowOf(job, place, input)), start } };
};

/**
 * A row of the page. The first `job_details_count` rows carry their details; descriptions are carried by as many
 * rows, or by those that the two description integers select.
 */
function rowOf(job: Job, place: number, input: JobsSearchInput): JobRow {
  const company = companyFor({ company_id: String(ID_BASE.company + job.company) });
  const row: JobRow = {
    job_id: job.id,
    job_title: word(TITLES, job.title),
    job_url: `https://www.social.test/jobs/view/${job.id}`,
    job_company: company.name ?? null,
    job_insight: job.applicants < EARLY_APPLICANTS ? 'Be an early applicant' : `${job.applicants} applicants`,
    job_location: word(LOCATIONS, job.location),
    easy_apply: job.easyApply,
    reposted_at: new Date(job.postedAt).toISOString(),
  };
  const details = input.job_details_count ?? 0;
  const from = input.job_posting_detail_description_start ?? 0;
  const described = input.job_posting_detail_description_count ?? details;
  if (place < details) {
    row.company = {
      company_id: company.company_id ?? null,
      public_id: company.public_id ?? null,
      name: company.name ?? null,
    };
    row.location = word(LOCATIONS, job.location);
    row.posting = {
      listed_at: new Date(job.postedAt).toISOString(),
      employment_type: job.jobType,
      experience_level: job.experienceLevel,
      workplace_type: job.workplaceType,
    };
    row.application = {
      apply_url: `https://www.social.test/jobs/apply/${job.id}`,
      applicants: job.applicants,
      closed: false,
    };
  }
  if (place >= from && place < from + described) row.description = descriptionOf(job);
  return row;
}
