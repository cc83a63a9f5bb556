import { LIMITS } from '../limits.js';
import type { Company } from './companies.js';
import { wordsOf } from './directory.js';
import { Draw } from './seeded-random.js';
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

/** The moment at which the network's jobs stand still. */
export const JOBS_NOW = Date.UTC(2025, 0, 1);

export const JOB_TYPES = ['F', 'P', 'C', 'T', 'I'] as const;

/** All jobs, in the order of a search by relevance; the same for the same seed and companies. */
export function makeJobs(seed: string, companies: readonly Company[]): Job[] {
  return Array.from({ length: LIMITS.jobs }, (_, index) => {
    const draw = new Draw(seed, 'job', index);
    const company = draw.between(0, companies.length - 1);
    const employer = companies[company] as Company;
    const titlePlace = draw.between(0, TITLES.length - 1);
    const title = TITLES[titlePlace] ?? '';
    const location = draw.chance(0.7) ? employer.location : draw.between(0, LOCATIONS.length - 1);
    const listedAt = JOBS_NOW - draw.between(60_000, 60 * 86_400_000);
    const text = [title, employer.name, LOCATIONS[location], INDUSTRIES[employer.industry]].join(' ');
    return {
      jobId: String(3_900_000_000 + index),
      company,
      location,
      titlePlace,
      title,
      jobFunction: draw.between(0, JOB_FUNCTIONS.length - 1),
      industry: employer.industry,
      jobType: draw.chance(0.6) ? 'F' : draw.pick(JOB_TYPES),
      experience: draw.between(1, 6),
      workplaceType: draw.between(1, 3),
      commitment: draw.between(1, 5),
      salary: draw.chance(0.6) ? draw.between(2, 18) * 10_000 : null,
      easyApply: draw.chance(0.5),
      earlyApplicant: draw.chance(0.3),
      inYourNetwork: draw.chance(0.2),
      listedAt,
      repostedAt: draw.chance(0.2) ? listedAt + 30_000 : null,
      gone: index % 15 === 7,
      words: new Set(wordsOf(text)),
    };
  });
}
