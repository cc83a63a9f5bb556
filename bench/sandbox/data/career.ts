import type { Member } from './members.js';
import { SeededRandom } from './seeded-random.js';
import { JOB_FUNCTIONS, LOCATIONS, SKILLS, TITLES } from './words.js';

/** The present year of the generated data, which does not move. */
export const PRESENT_YEAR = 2025;

/** What recruiters filter by beside the profile. A search reads every member's, so each is made once and kept. */
export interface Career {
  yearsOfExperience: number;
  graduationYear: number;
  /** 1 to 10; 4 senior, 5 manager, 6 director. */
  seniority: number;
  /** 1 to 26; 8 engineering. */
  jobFunction: number;
  /** Place in `TITLES` of the job before this one. */
  pastJob: number;
  /** Place in `LOCATIONS` where the member would rather be. */
  preferredLocation: number;
  /** 1 (a day) to 5 (months) since joining the employer; 0 for longer. */
  recentlyJoined: number;
  veteran: boolean;
  openToWork: boolean;
  /** Places in `SKILLS`. */
  skills: number[];
}

/** By place in `SENIORITIES`. */
const SENIORITY_CODES = [3, 2, 4, 5, 7, 6] as const;

const ENGINEERING = 8;

const made = new WeakMap<Member, Career>();

export function careerOf(member: Member): Career {
  const known = made.get(member) ?? makeCareer(member);
  made.set(member, known);
  return known;
}

function makeCareer(member: Member): Career {
  const random = new SeededRandom('career', member.hashId);
  const yearsOfExperience = random.between(0, 34);
  const other = random.between(1, JOB_FUNCTIONS.length);
  return {
    yearsOfExperience,
    graduationYear: PRESENT_YEAR - yearsOfExperience,
    seniority: SENIORITY_CODES[member.seniority] ?? 3,
    jobFunction: member.title.includes('Engineer') ? ENGINEERING : other,
    pastJob: random.between(0, TITLES.length - 1),
    preferredLocation: random.between(0, LOCATIONS.length - 1),
    recentlyJoined: random.chance(0.2) ? random.between(1, 5) : 0,
    veteran: random.chance(0.05),
    openToWork: random.chance(0.2),
    skills: [...new Set(Array.from({ length: random.between(3, 9) }, () => random.between(0, SKILLS.length - 1)))],
  };
}

/** The zip code of a location: one each. */
export function zipOf(location: number): string {
  return String(10_000 + location * 137);
}
