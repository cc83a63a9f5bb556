import type { Education, Experience, Profile } from '../../browser-pool/contract/identity.js';
import { hashIdOf } from './names.js';
import { between, mix, pick, seedOf } from './seeded-random.js';
import * as vocabulary from './vocabulary.js';

/** A member of the simulated network: places in the vocabularies rather than words, as filters compare those. */
export interface Person {
  slug: string;
  hashId: string;
  seed: number;
  memberId: string;
  firstName: string;
  lastName: string;
  title: number;
  pastTitle: number;
  company: number;
  pastCompany: number;
  location: number;
  school: number;
  skills: number[];
  jobFunction: number;
  serviceCategory: number;
  language: string;
  seniority: number;
  yearsOfExperience: number;
  graduationYear: number;
  joinedBucket: number;
  veteran: boolean;
  openToVolunteer: boolean;
}

/** A person that searches find. */
export interface Member extends Person {
  /** What keywords are looked for in, lower case. */
  text: string;
}

/** A prime, so that walking it in steps meets every member; below the 1000 that `start` can reach. */
export const MEMBERS = 997;
const LATEST_GRADUATION = 2024;

const members: Member[] = [];
const places = new Map<string, number>();

/** Every member, in one fixed order. Computed at first use, then kept by the thread. */
export function allMembers(): readonly Member[] {
  if (members.length === 0) {
    for (let place = 0; place < MEMBERS; place++) {
      const first = pick(vocabulary.FIRST_NAMES, place, 1);
      const last = pick(vocabulary.LAST_NAMES, place, 2);
      const ascii = `${first}-${last}-${place}`.normalize('NFD').replaceAll(/[^A-Za-z0-9-]/g, '');
      const person = personOf(ascii.toLowerCase(), first, last);
      members.push({ ...person, text: textOf(person) });
      places.set(person.slug, place);
    }
  }
  return members;
}

/** A member by place, wrapping around. */
export function memberAt(place: number): Person {
  return allMembers()[place % MEMBERS] as Person;
}

/** A slug's place among the members, or undefined for a person that no search finds. */
export function placeOf(slug: string): number | undefined {
  allMembers();
  return places.get(slug);
}

/** The person a slug names: a member, or a person made from the slug itself. Every slug names one. */
export function personBySlug(slug: string): Person {
  const place = placeOf(slug);
  if (place !== undefined) return memberAt(place);
  const parts = slug.split(/[^A-Za-z]+/).filter((part) => part.length > 1);
  const seed = seedOf(slug);
  const capital = (word: string) => word.charAt(0).toUpperCase() + word.slice(1);
  return personOf(
    slug,
    capital(parts[0] ?? pick(vocabulary.FIRST_NAMES, seed, 1)),
    capital(parts[1] ?? pick(vocabulary.LAST_NAMES, seed, 2)),
  );
}

export const nameOf = (person: Person) => `${person.firstName} ${person.lastName}`;
export const titleOf = (person: Person) => word(vocabulary.TITLES, person.title);
export const companyOf = (person: Person) => word(vocabulary.COMPANIES, person.company);
export const locationOf = (person: Person) => word(vocabulary.LOCATIONS, person.location);
export const headlineOf = (person: Person) => `${titleOf(person)} at ${companyOf(person)}`;
export const industryPlaceOf = (person: Person) => vocabulary.COMPANY_INDUSTRY[person.company] ?? 0;
export const industryOf = (person: Person) => word(vocabulary.INDUSTRIES, industryPlaceOf(person));
export const pictureOf = (person: Person) =>
  mix(person.seed, 40) % 4 === 0 ? null : `https://files.social.test/pictures/${person.slug}.png`;
export const profileUrlOf = (person: Person) => `https://www.social.test/in/${person.slug}`;

/** The word at a place of a vocabulary. */
export function word(list: readonly string[], place: number): string {
  return list[place] as string;
}

/** What a profile holds of the person alone; distance and invitations depend on the account that reads it. */
export function describePerson(
  person: Person,
): Omit<Profile, 'source' | 'hash_id' | 'network_distance' | 'has_pending_connection_request' | 'connected_at'> {
  return {
    member_id: person.memberId,
    public_id: person.slug,
    first_name: person.firstName,
    last_name: person.lastName,
    headline: headlineOf(person),
    profile_picture: pictureOf(person),
    industry: industryOf(person),
    location: locationOf(person),
    public_profile_url: profileUrlOf(person),
    email: null,
    address: null,
    phone_numbers: [],
    about: `${person.firstName} works as ${titleOf(person)} in ${locationOf(person)}.`,
    experience: experienceOf(person),
    education: educationOf(person),
  };
}

function experienceOf(person: Person): Experience[] {
  const since = person.graduationYear + Math.floor(person.yearsOfExperience / 2);
  return [
    {
      title: titleOf(person),
      company: companyOf(person),
      location: locationOf(person),
      start_date: String(since),
      end_date: null,
      description: null,
    },
    {
      title: word(vocabulary.TITLES, person.pastTitle),
      company: word(vocabulary.COMPANIES, person.pastCompany),
      location: pick(vocabulary.LOCATIONS, person.seed, 41),
      start_date: String(person.graduationYear),
      end_date: String(since),
      description: null,
    },
  ];
}

function educationOf(person: Person): Education[] {
  return [
    {
      school: word(vocabulary.SCHOOLS, person.school),
      degree: pick(vocabulary.DEGREES, person.seed, 42),
      major: pick(vocabulary.MAJORS, person.seed, 43),
      start_date: String(person.graduationYear - 4),
      end_date: String(person.graduationYear),
    },
  ];
}

function personOf(slug: string, firstName: string, lastName: string): Person {
  const seed = seedOf(slug);
  const place = (list: readonly string[], salt: number) => mix(seed, salt) % list.length;
  const graduationYear = between(1985, LATEST_GRADUATION, seed, 14);
  return {
    slug,
    hashId: hashIdOf(slug),
    seed,
    memberId: String(10_000_000 + seed),
    firstName,
    lastName,
    title: place(vocabulary.TITLES, 3),
    pastTitle: place(vocabulary.TITLES, 4),
    company: place(vocabulary.COMPANIES, 5),
    pastCompany: place(vocabulary.COMPANIES, 6),
    location: place(vocabulary.LOCATIONS, 7),
    school: place(vocabulary.SCHOOLS, 8),
    skills: [...new Set([place(vocabulary.SKILLS, 9), place(vocabulary.SKILLS, 10), place(vocabulary.SKILLS, 11)])],
    jobFunction: place(vocabulary.JOB_FUNCTIONS, 12),
    serviceCategory: place(vocabulary.SERVICE_CATEGORIES, 13),
    language: pick(vocabulary.LANGUAGES, seed, 15),
    seniority: between(1, 10, seed, 16),
    yearsOfExperience: LATEST_GRADUATION + 1 - graduationYear,
    graduationYear,
    joinedBucket: between(1, 5, seed, 17),
    veteran: mix(seed, 18) % 10 === 0,
    openToVolunteer: mix(seed, 19) % 3 === 0,
  };
}

function textOf(person: Person): string {
  const skills = person.skills.map((skill) => word(vocabulary.SKILLS, skill));
  return [nameOf(person), headlineOf(person), locationOf(person), industryOf(person), ...skills]
    .join(' ')
    .toLowerCase();
}
