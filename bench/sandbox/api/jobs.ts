import { wordsOf } from '../data/directory.js';
import { type Job, makeJobs } from '../data/jobs.js';
import { SeededRandom } from '../data/seeded-random.js';
import { facetId } from '../data/taxonomy.js';
import { LOCATIONS, SENTENCES } from '../data/words.js';
import { badRequest, html, json, notFound } from '../http/answer.js';
import type { Exchange, Route } from '../http/exchange.js';
import { escaped, page } from '../http/markup.js';
import { LIMITS, ORIGIN } from '../limits.js';
import type { State } from '../state/state.js';
import { JOB_FACETS, jobFacetsOf, SORT_ORDERS } from './job-facets.js';

/** Searching jobs and reading one. */
export function jobRoutes(state: State): Route[] {
  const capabilities = ['social.jobs.search'];
  let made: Job[] | null = null;
  const all = (): Job[] => {
    made ??= makeJobs(state.directory.seed, state.directory.companies);
    return made;
  };
  const asked = (exchange: Exchange): Job => {
    const job = all()[Number(exchange.params[0]) - Number(all()[0]?.jobId)];
    if (job === undefined || job.gone || job.jobId !== exchange.params[0]) throw notFound('job');
    return job;
  };
  return [
    {
      method: 'GET',
      path: '/api/search/jobs',
      access: 'api',
      capabilities,
      answer: (exchange) => {
        const query = exchange.query.only('keywords', 'start', 'count', 'sortBy', 'decorationId', ...JOB_FACETS);
        const start = query.number('start', 0, LIMITS.search_start_rows) ?? 0;
        const count = query.number('count', 1, LIMITS.search_rows) ?? LIMITS.jobs_default_rows;
        query.text('decorationId', 255);
        const found = search(state, exchange, all());
        const data = found.slice(start, start + count).map((job) => jobRow(state, job));
        return json({ data, paging: { start, count, total: found.length } });
      },
    },
    {
      method: 'GET',
      path: '/api/jobs/:id',
      access: 'api',
      capabilities,
      answer: (exchange) => {
        exchange.query.only();
        return json({ data: jobView(state, asked(exchange)) });
      },
    },
    {
      method: 'GET',
      path: '/jobs/view/:id',
      access: 'page',
      capabilities,
      answer: (exchange) => html(200, jobPage(asked(exchange))),
    },
  ];
}

function search(state: State, exchange: Exchange, all: readonly Job[]): Job[] {
  const keywords = exchange.query.text('keywords', 200);
  const facets = jobFacetsOf(state, exchange);
  if (keywords === null && facets.length === 0) throw badRequest('Give keywords or a facet.');
  const asked = wordsOf(keywords ?? '');
  const found = all.filter((job) => asked.every((word) => job.words.has(word)) && facets.every((facet) => facet(job)));
  const newestFirst = exchange.query.choice('sortBy', SORT_ORDERS) === 'DD';
  return newestFirst ? found.toSorted((a, b) => b.listedAt - a.listedAt) : found;
}

function jobRow(state: State, job: Job): Record<string, unknown> {
  const company = state.directory.companies[job.company];
  return {
    jobId: job.jobId,
    title: job.title,
    url: `${ORIGIN}/jobs/view/${job.jobId}`,
    companyId: company?.companyId,
    companyName: company?.name,
    location: LOCATIONS[job.location],
    insight: job.inYourNetwork ? 'Somebody you know works here' : null,
    easyApply: job.easyApply,
    listedAt: job.listedAt,
    repostedAt: job.repostedAt,
  };
}

function jobView(state: State, job: Job): Record<string, unknown> {
  const random = new SeededRandom('job', job.jobId);
  const company = state.directory.companies[job.company];
  return {
    ...jobRow(state, job),
    company: {
      companyId: company?.companyId,
      publicId: company?.publicId,
      name: company?.name,
      url: `${ORIGIN}/company/${company?.publicId}`,
    },
    description: `${company?.name} is looking for a ${job.title}. ${random.pick(SENTENCES)} ${random.pick(SENTENCES)}`,
    posting: {
      jobType: job.jobType,
      experience: job.experience,
      workplaceType: job.workplaceType,
      functionId: facetId('job_function', job.jobFunction),
      industryId: facetId('industry', job.industry),
      salary: job.salary,
      expiresAt: job.listedAt + 90 * 86_400_000,
    },
    application: {
      method: job.easyApply ? 'on_site' : 'external',
      url: job.easyApply ? null : `https://${company?.publicId}.test/apply/${job.jobId}`,
      applicants: random.between(0, 200),
    },
  };
}

function jobPage(job: Job): string {
  return page('job', job.title, `<main id="job" data-job-id="${job.jobId}"><h1>${escaped(job.title)}</h1></main>`);
}
