import { INDUSTRIES, JOB_FUNCTIONS, LOCATIONS, SCHOOLS, SERVICE_CATEGORIES, SKILLS, TITLES } from './words.js';

/** The lists that searches filter by. An entry's id is its place in its list, from a number of that list's own. */
export const TAXONOMY = {
  location: { first: 101_000, names: LOCATIONS },
  industry: { first: 4, names: INDUSTRIES },
  school: { first: 15_000, names: SCHOOLS },
  service: { first: 600, names: SERVICE_CATEGORIES },
  skill: { first: 50_000, names: SKILLS },
  job_title: { first: 9_000, names: TITLES },
  job_function: { first: 1, names: JOB_FUNCTIONS },
} as const;

export type Taxonomy = keyof typeof TAXONOMY;

/** The id of the entry at `place` (from 0). */
export function facetId(taxonomy: Taxonomy, place: number): string {
  return String(TAXONOMY[taxonomy].first + place);
}
