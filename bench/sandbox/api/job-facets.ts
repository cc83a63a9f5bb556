import { JOB_TYPES, JOBS_NOW, type Job } from '../data/jobs.js';
import { facetId } from '../data/taxonomy.js';
import { badRequest } from '../http/answer.js';
import type { Exchange } from '../http/exchange.js';
import type { State } from '../state/state.js';

type Facet = (job: Job) => boolean;

const FLAGS = ['easyApply', 'earlyApplicant', 'inYourNetwork'] as const;

export const SORT_ORDERS = ['R', 'DD'] as const;

export const JOB_FACETS = [
  'locationId',
  'populatedPlaceId',
  'companyId',
  'functionId',
  'industryId',
  'titleId',
  'jobType',
  'experience',
  'workplaceType',
  'commitment',
  'salaryBucket',
  'timePosted',
  'distance',
  ...FLAGS,
] as const;

/** The facets of a job search. Malformed ones are refused; an unknown id matches no job. */
export function jobFacetsOf(state: State, exchange: Exchange): Facet[] {
  const { query } = exchange;
  const facets: Facet[] = [];
  const ids = (name: string, idOf: (job: Job) => string): void => {
    const wanted = query.list(name, 50);
    if (wanted !== null) facets.push((job) => wanted.includes(idOf(job)));
  };
  const codes = (name: string, choices: readonly string[], codeOf: (job: Job) => string): void => {
    const wanted = query.list(name, 50);
    if (wanted?.some((code) => !choices.includes(code)))
      throw badRequest(`${name} is a list of ${choices.join(', ')}.`);
    if (wanted !== null) facets.push((job) => wanted.includes(codeOf(job)));
  };

  ids('locationId', (job) => facetId('location', job.location));
  ids('populatedPlaceId', (job) => facetId('location', job.location));
  ids('companyId', (job) => state.directory.companies[job.company]?.companyId ?? '');
  ids('functionId', (job) => facetId('job_function', job.jobFunction));
  ids('industryId', (job) => facetId('industry', job.industry));
  ids('titleId', (job) => facetId('job_title', job.titlePlace));
  codes('jobType', JOB_TYPES, (job) => job.jobType);
  codes('experience', ['1', '2', '3', '4', '5', '6'], (job) => String(job.experience));
  codes('workplaceType', ['1', '2', '3'], (job) => String(job.workplaceType));
  codes('commitment', ['1', '2', '3', '4', '5'], (job) => String(job.commitment));

  const salary = query.number('salaryBucket', 1, 9);
  if (salary !== null) facets.push((job) => (job.salary ?? 0) >= salary * 20_000);
  const posted = query.text('timePosted', 12);
  if (posted !== null) {
    const seconds = Number(/^r(\d{1,10})$/.exec(posted)?.[1] ?? Number.NaN);
    if (Number.isNaN(seconds)) throw badRequest('timePosted is r and a number of seconds.');
    facets.push((job) => job.listedAt >= JOBS_NOW - seconds * 1_000);
  }
  // Every job is near enough; but a search by distance alone is a search.
  if (query.number('distance', 0, 500) !== null) facets.push(() => true);
  for (const name of FLAGS) {
    const wanted = query.flag(name);
    if (wanted !== null) facets.push((job) => job[name] === wanted);
  }
  return facets;
}
