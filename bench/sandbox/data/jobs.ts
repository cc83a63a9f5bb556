import { LIMITS } from '../limits.js';
import type { Company } from './companies.js';
import { wordsOf } from './directory.js';
import { SeededRandom } from './seeded-random.js';
import { INDUSTRIES, JOB_FUNCTIONS, LOCATIONS, TITLES } from './words.js';

/** A posted job. `company`, `location`, `title` and `jobFunction` are places in their lists. */
export interface Job {
  jobId: string;
  company: number;
  location: number;
  titlePlace: number;
  title: string;
  jobFunction: number;
  industry: number;
  jobType: string;
  experience: number;
  workplaceType: number;
  commitment: number;
  salary: number | null;
  easyApply: boolean;
  earlyApplicant: boolean;
  inYourNetwork: boolean;
  listedAt: number;
  repostedAt: number | null;
  /** Still found, but nothing more to read. */
  gone: boolean;
  words: ReadonlySet<string>;
}

/** The present moment of the generated jobs, which does not move. */
export const JOBS_NOW = Date.UTC(2025, 0, 1);

export const JOB_TYPES = ['F', 'P', 'C', 'T', 'I'] as const;

/** All jobs, in the order of a search by relevance; the same for the same seed and companies. */
export function makeJobs(seed: string, companies: readonly Company[]): Job[] {
  return Array.from({ length: LIMITS.jobs }, (_, index) => {
    const random = new SeededRandom(seed, 'job', index);
    const company = random.between(0, companies.length - 1);
    const employer = companies[company] as Company;
    const titlePlace = random.between(0, TITLES.length - 1);
    const title = TITLES[titlePlace] ?? '';
    const location = random.chance(0.7) ? employer.location : random.between(0, LOCATIONS.length - 1);
    const listedAt = JOBS_NOW - random.between(60_000, 60 * 86_400_000);
    const text = [title, employer.name, LOCATIONS[location], INDUSTRIES[employer.industry]].join(' ');
    return {
      jobId: String(3_900_000_000 + index),
      company,
      location,
      titlePlace,
      title,
      jobFunction: random.between(0, JOB_FUNCTIONS.length - 1),
      industry: employer.industry,
      jobType: random.chance(0.6) ? 'F' : random.pick(JOB_TYPES),
      experience: random.between(1, 6),
      workplaceType: random.between(1, 3),
      commitment: random.between(1, 5),
      salary: random.chance(0.6) ? random.between(2, 18) * 10_000 : null,
      easyApply: random.chance(0.5),
      earlyApplicant: random.chance(0.3),
      inYourNetwork: random.chance(0.2),
      listedAt,
      repostedAt: random.chance(0.2) ? listedAt + 30_000 : null,
      gone: index % 15 === 7,
      words: new Set(wordsOf(text)),
    };
  });
}
