import { companyFor } from './companies.js';
import { DAY_MS, HISTORY_END_MS } from './relationship.js';
import { between, pick, seedOf } from './seeded-random.js';
import { COMPANIES, LOCATIONS, TITLES } from './vocabulary.js';

/** A posting of the simulated network. Codes are texts, as filters carry them. */
export interface Job {
  id: string;
  seed: number;
  title: number;
  company: number;
  location: number;
  jobFunction: number;
  jobType: string;
  experienceLevel: string;
  workplaceType: string;
  salaryBucket: number;
  commitment: string;
  distance: number;
  applicants: number;
  easyApply: boolean;
  postedAt: number;
  text: string;
}

const JOBS = 401;
const all: Job[] = [];

/** Every posting, in one fixed order. Computed at first use, then kept by the thread. */
export function allJobs(): readonly Job[] {
  if (all.length === 0) for (let place = 0; place < JOBS; place++) all.push(jobAt(place));
  return all;
}

function jobAt(place: number): Job {
  const seed = seedOf(`job ${place}`);
  const job: Job = {
    id: String(3_000_000 + place),
    seed,
    title: between(0, TITLES.length - 1, seed, 1),
    company: between(0, COMPANIES.length - 1, seed, 2),
    location: between(0, LOCATIONS.length - 1, seed, 3),
    jobFunction: between(1, 20, seed, 4),
    jobType: pick(['F', 'P', 'C', 'T', 'I'], seed, 5),
    experienceLevel: String(between(1, 6, seed, 6)),
    workplaceType: String(between(1, 3, seed, 7)),
    salaryBucket: between(1, 9, seed, 8),
    commitment: String(between(1, 5, seed, 9)),
    distance: between(0, 100, seed, 10),
    applicants: between(0, 200, seed, 11),
    easyApply: between(0, 1, seed, 12) === 1,
    postedAt: HISTORY_END_MS - between(0, 90, seed, 13) * DAY_MS,
    text: '',
  };
  job.text = [TITLES[job.title], COMPANIES[job.company], LOCATIONS[job.location], descriptionOf(job)]
    .join(' ')
    .toLowerCase();
  return job;
}

export function descriptionOf(job: Job): string {
  const company = companyFor({ company_name: COMPANIES[job.company] as string });
  return `${company.name} is looking for a ${TITLES[job.title]} in ${LOCATIONS[job.location]}. ${company.tagline}.`;
}
