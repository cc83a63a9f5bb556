import { type Career, zipOf } from '../data/career.js';
import { wordsOf } from '../data/directory.js';
import type { Member } from '../data/members.js';
import { fingerprint } from '../data/seeded-random.js';
import { facetId } from '../data/taxonomy.js';
import { Refused } from '../http/answer.js';
import type { State } from '../state/state.js';
import { employeesOf } from './companies.js';
import type { Entry, GeoScope, Range, RecruiterSearch, TimeScope } from './recruiter-request.js';

/** A member as a recruiter search looks at it. */
export interface Candidate {
  member: Member;
  career: Career;
}

type Filter = (candidate: Candidate) => boolean;

const LANGUAGES = ['en', 'es', 'zh', 'de', 'fr', 'it', 'pt', 'nl', 'in', 'ms', 'ro', 'ru'];

/** The refusal of a well-formed search whose filters contradict each other. */
function invalidFilter(message: string): Refused {
  return new Refused(422, 'invalid_filter', message);
}

/** Every filter of the search, beside its keywords. Refuses combinations that mean nothing. */
export function recruiterFilters(state: State, viewer: Member, asked: RecruiterSearch): Filter[] {
  const filters: Filter[] = [];
  const companyId = (place: number): string => state.directory.companies[place]?.companyId ?? '';
  const add = <T>(wanted: T | undefined, filter: (wanted: T) => Filter): void => {
    if (wanted !== undefined) filters.push(filter(wanted));
  };
  const oneOf = <T>(wanted: readonly T[] | undefined, measured: (candidate: Candidate) => T): void =>
    add(wanted, (list) => (candidate) => list.includes(measured(candidate)));

  add(asked.titles, (entries) =>
    having(entries, ({ id, scope }, { member, career }) =>
      inTime(scope, facetId('job_title', member.job) === id, facetId('job_title', career.pastJob) === id),
    ),
  );
  add(asked.companies, (entries) =>
    having(entries, ({ id, scope }, { member }) =>
      inTime(scope, companyId(member.company) === id, companyId(member.pastCompany) === id),
    ),
  );
  add(asked.currentCompanies, (entries) => having(entries, ({ id }, { member }) => companyId(member.company) === id));
  add(asked.pastCompanies, (entries) => having(entries, ({ id }, { member }) => companyId(member.pastCompany) === id));
  add(asked.locations, (entries) =>
    having(entries, ({ id, scope }, { member, career }) =>
      inPlace(scope, facetId('location', member.location) === id, facetId('location', career.preferredLocation) === id),
    ),
  );
  add(asked.skills, (entries) =>
    having(entries, ({ id }, { career }) => career.skills.some((place) => facetId('skill', place) === id)),
  );
  add(asked.schools, (entries) => having(entries, ({ id }, { member }) => facetId('school', member.school) === id));
  add(asked.industries, (entries) =>
    having(entries, ({ id }, { member }) => facetId('industry', member.industry) === id),
  );

  add(
    asked.firstNames,
    (names) =>
      ({ member }) =>
        named(names, member.firstName),
  );
  add(
    asked.lastNames,
    (names) =>
      ({ member }) =>
        named(names, member.lastName),
  );
  oneOf<string>(asked.zipCodes, ({ member }) => zipOf(member.location));
  const sizes = state.directory.companies.map((company) => sizeLetter(employeesOf(company)));
  oneOf<string>(asked.companySizes, ({ member }) => sizes[member.company] ?? '');
  oneOf(within('jobFunctions', asked.jobFunctions, 26), ({ career }) => career.jobFunction);
  oneOf(within('seniorities', asked.seniorities, 10), ({ career }) => career.seniority);
  oneOf<string>(asked.networks, ({ member }) => networkOf(state, viewer, member));
  if (asked.profileLanguages?.some((code) => !LANGUAGES.includes(code)))
    throw invalidFilter('There is no such language.');
  oneOf<string>(asked.profileLanguages, ({ member }) => member.language);
  const joined = asked.recentlyJoined === undefined ? undefined : [asked.recentlyJoined];
  oneOf(within('recentlyJoined', joined, 5), ({ career }) => career.recentlyJoined);
  add(asked.graduationYear, (range) => between(range, ({ career }) => career.graduationYear));
  add(asked.yearsOfExperience, (range) => between(range, ({ career }) => career.yearsOfExperience));
  add(
    asked.veteran,
    (wanted) =>
      ({ career }) =>
        career.veteran === wanted,
  );

  if (asked.distance !== undefined) {
    if (!Number.isInteger(asked.distance) || asked.distance < 1) throw invalidFilter('distance is a positive integer.');
    if (asked.locations === undefined && asked.zipCodes === undefined) throw invalidFilter('distance needs a place.');
  }
  return filters;
}

/** First degree, second degree, fellow group member, or other. */
export function networkOf(state: State, viewer: Member, member: Member): 'F' | 'S' | 'A' | 'O' {
  const distance = state.relationships.distance(viewer.hashId, member.hashId);
  if (distance === 'F' || distance === 'S') return distance;
  return fingerprint(`group\u0000${viewer.hashId}\u0000${member.hashId}`) % 10 === 0 ? 'A' : 'O';
}

function having<T extends Entry>(entries: readonly T[], fits: (entry: T, candidate: Candidate) => boolean): Filter {
  const must = entries.filter(({ filter }) => filter === 'MUST_HAVE');
  const never = entries.filter(({ filter }) => filter === 'DOESNT_HAVE');
  const can = entries.filter(({ filter = 'CAN_HAVE' }) => filter === 'CAN_HAVE');
  return (candidate) =>
    must.every((entry) => fits(entry, candidate)) &&
    !never.some((entry) => fits(entry, candidate)) &&
    (must.length > 0 || can.length === 0 || can.some((entry) => fits(entry, candidate)));
}

function inTime(scope: TimeScope = 'CURRENT_OR_PAST', current: boolean, past: boolean): boolean {
  switch (scope) {
    case 'CURRENT_OR_PAST':
      return current || past;
    case 'CURRENT':
      return current;
    case 'PAST':
      return past;
    case 'PAST_NOT_CURRENT':
      return past && !current;
    default:
      return scope satisfies never;
  }
}

function inPlace(scope: GeoScope = 'CURRENT', current: boolean, preferred: boolean): boolean {
  switch (scope) {
    case 'CURRENT':
      return current;
    case 'PREFERRED_NOT_CURRENT':
      return preferred && !current;
    case 'CURRENT_OR_PREFERRED':
      return current || preferred;
    default:
      return scope satisfies never;
  }
}

function named(names: readonly string[], own: string): boolean {
  const words = wordsOf(own);
  return names.some((name) => wordsOf(name).every((word) => words.includes(word)));
}

function within(name: string, codes: readonly number[] | undefined, highest: number): readonly number[] | undefined {
  if (codes?.some((code) => !Number.isInteger(code) || code < 1 || code > highest)) {
    throw invalidFilter(`${name} goes from 1 to ${highest}.`);
  }
  return codes;
}

function between({ min, max }: Range, measured: (candidate: Candidate) => number): Filter {
  if (min === undefined && max === undefined) throw invalidFilter('A range needs min or max.');
  if (min !== undefined && max !== undefined && min > max) throw invalidFilter('min is above max.');
  return (candidate) => {
    const value = measured(candidate);
    return value >= (min ?? value) && value <= (max ?? value);
  };
}

/** Lowest number of employees of each size, A to I. */
const SIZES = [1, 2, 11, 51, 201, 501, 1_001, 5_001, 10_001] as const;

function sizeLetter(employees: number): string {
  return 'ABCDEFGHI'.charAt(SIZES.findLastIndex((lowest) => employees >= lowest));
}
