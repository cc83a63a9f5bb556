import { LIMITS } from '../limits.js';
import type { Company } from './companies.js';
import { fingerprint, SeededRandom, stableId } from './seeded-random.js';
import { FIRST_NAMES, LAST_NAMES, LOCATIONS, SCHOOLS, SENIORITIES, SERVICE_CATEGORIES, TITLES } from './words.js';

/** A person of the network: generated, or behind an account. Numbers are places in the lists of `words.ts` or of the companies. */
export interface Member {
  hashId: string;
  publicId: string;
  memberId: string;
  firstName: string;
  lastName: string;
  headline: string;
  title: string;
  /** Places in `TITLES` and `SENIORITIES`: what the title is made of. */
  job: number;
  seniority: number;
  location: number;
  industry: number;
  company: number;
  pastCompany: number;
  school: number;
  /** Offers a service; -1 for most. */
  service: number;
  language: string;
  volunteer: boolean;
  hasPicture: boolean;
}

const LANGUAGES = ['en', 'en', 'en', 'de', 'fr', 'es', 'it', 'pt', 'nl'] as const;

/** `LIMITS.members` people, the same for the same seed and companies. */
export function makeMembers(seed: string, companies: readonly Company[]): Member[] {
  return Array.from({ length: LIMITS.members }, (_, index) => {
    const random = new SeededRandom(seed, 'member', index);
    const firstName = random.pick(FIRST_NAMES);
    const lastName = random.pick(LAST_NAMES);
    const suffix = stableId(40, seed, 'slug', index)
      .replace(/[^a-z0-9]/g, '')
      .slice(0, 4);
    return describe(random, companies, {
      hashId: `ACoAA${stableId(34, seed, 'member', index)}`,
      publicId: `${firstName}-${lastName}-${suffix}${index.toString(36)}`.toLowerCase(),
      memberId: String(100_000 + index * 7),
      firstName,
      lastName,
    });
  });
}

/** The member behind an account: everything follows from the username. */
export function accountMember(seed: string, username: string, companies: readonly Company[]): Member {
  const random = new SeededRandom(seed, 'account', username);
  const words = (username.split(/[@+]/)[0] ?? '').split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '');
  const firstName = capitalized(words[0] ?? random.pick(FIRST_NAMES));
  const lastName = words.length > 1 ? words.slice(1).map(capitalized).join(' ') : random.pick(LAST_NAMES);
  const slug = username
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, 80);
  return describe(random, companies, {
    hashId: `ACoAA${stableId(34, seed, 'account', username)}`,
    publicId: `${slug}-${fingerprint(username).toString(16).padStart(8, '0')}`.replace(/^-/, ''),
    memberId: String(10_000_000_000 + fingerprint(`${seed}\u0000${username}`)),
    firstName,
    lastName,
  });
}

function describe(
  random: SeededRandom,
  companies: readonly Company[],
  who: Pick<Member, 'hashId' | 'publicId' | 'memberId' | 'firstName' | 'lastName'>,
): Member {
  const company = random.between(0, companies.length - 1);
  const employer = companies[company] as Company;
  const seniority = random.between(0, SENIORITIES.length - 1);
  const job = random.between(0, TITLES.length - 1);
  const title = `${SENIORITIES[seniority]} ${TITLES[job]}`.trim();
  return {
    ...who,
    headline: `${title} at ${employer.name}`,
    title,
    job,
    seniority,
    location: random.chance(0.6) ? employer.location : random.between(0, LOCATIONS.length - 1),
    industry: employer.industry,
    company,
    pastCompany: random.between(0, companies.length - 1),
    school: random.between(0, SCHOOLS.length - 1),
    service: random.chance(0.08) ? random.between(0, SERVICE_CATEGORIES.length - 1) : -1,
    language: random.pick(LANGUAGES),
    volunteer: random.chance(0.15),
    hasPicture: random.chance(0.7),
  };
}

function capitalized(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
