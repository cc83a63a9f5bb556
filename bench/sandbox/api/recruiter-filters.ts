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
  if (asked.profileLanguages?.some((code) => !LANGUAGES.includes(code))) {
    throw invalidFilter('There is no such language.');
  }
  if (asked.distance !== undefined) {
    if (!Number.isInteger(asked.distance) || asked.distance < 1) throw invalidFilter('distance is a positive integer.');
    if (asked.locations === undefined && asked.zipCodes === undefined) throw invalidFilter('distance needs a place.');
  }
  return [...entryFilters(state, asked), ...codeFilters(state, viewer, asked), ...careerFilters(asked)];
}

/** A filter where the search has one, as a list. */
const when = <T>(wanted: T | undefined, filter: (wanted: T) => Filter): Filter[] =>
  wanted === undefined ? [] : [filter(wanted)];

const oneOf = <T>(wanted: readonly T[] | undefined, measured: (candidate: Candidate) => T): Filter[] =>
  when(wanted, (list) => (candidate) => list.includes(measured(candidate)));

/** Filters by entries of a list, each with how much it must fit. */
function entryFilters(state: State, asked: RecruiterSearch): Filter[] {
  const companyId = (place: number): string => state.directory.companies[place]?.companyId ?? '';
  const { titles, companies, currentCompanies, pastCompanies, locations, skills, schools, industries } = asked;
  return [
    ...having(titles, ({ id, scope }, { member, career }) =>
      inTime(scope, facetId('job_title', member.job) === id, facetId('job_title', career.pastJob) === id),
    ),
    ...having(companies, ({ id, scope }, { member }) =>
      inTime(scope, companyId(member.company) === id, companyId(member.pastCompany) === id),
    ),
    ...having(currentCompanies, ({ id }, { member }) => companyId(member.company) === id),
    ...having(pastCompanies, ({ id }, { member }) => companyId(member.pastCompany) === id),
    ...having(locations, ({ id, scope }, { member, career }) =>
      inPlace(scope, facetId('location', member.location) === id, facetId('location', career.preferredLocation) === id),
    ),
    ...having(skills, ({ id }, { career }) => career.skills.some((place) => facetId('skill', place) === id)),
    ...having(schools, ({ id }, { member }) => facetId('school', member.school) === id),
    ...having(industries, ({ id }, { member }) => facetId('industry', member.industry) === id),
  ];
}

/** Filters by plain texts and codes of the member. */
function codeFilters(state: State, viewer: Member, asked: RecruiterSearch): Filter[] {
  const sizes = state.directory.companies.map((company) => sizeLetter(employeesOf(company)));
  return [
    ...when(
      asked.firstNames,
      (names) =>
        ({ member }) =>
          named(names, member.firstName),
    ),
    ...when(
      asked.lastNames,
      (names) =>
        ({ member }) =>
          named(names, member.lastName),
    ),
    ...oneOf<string>(asked.zipCodes, ({ member }) => zipOf(member.location)),
    ...oneOf<string>(asked.companySizes, ({ member }) => sizes[member.company] ?? ''),
    ...oneOf<string>(asked.networks, ({ member }) => networkOf(state, viewer, member)),
    ...oneOf<string>(asked.profileLanguages, ({ member }) => member.language),
  ];
}

/** Filters by the career, with the codes that it knows. */
function careerFilters(asked: RecruiterSearch): Filter[] {
  const joined = asked.recentlyJoined === undefined ? undefined : [asked.recentlyJoined];
  return [
    ...oneOf(within('jobFunctions', asked.jobFunctions, 26), ({ career }) => career.jobFunction),
    ...oneOf(within('seniorities', asked.seniorities, 10), ({ career }) => career.seniority),
    ...oneOf(within('recentlyJoined', joined, 5), ({ career }) => career.recentlyJoined),
    ...when(asked.graduationYear, (range) => between(range, ({ career }) => career.graduationYear)),
    ...when(asked.yearsOfExperience, (range) => between(range, ({ career }) => career.yearsOfExperience)),
    ...when(
      asked.veteran,
      (wanted) =>
        ({ career }) =>
          career.veteran === wanted,
    ),
  ];
}

/** First degree, second degree, fellow group member, or other. */
export function networkOf(state: State, viewer: Member, member: Member): 'F' | 'S' | 'A' | 'O' {
  const distance = state.relationships.distance(viewer.hashId, member.hashId);
  if (distance === 'F' || distance === 'S') return distance;
  return fingerprint(`group\u0000${viewer.hashId}\u0000${member.hashId}`) % 10 === 0 ? 'A' : 'O';
}

function having<T extends Entry>(
  entries: readonly T[] | undefined,
  fits: (entry: T, candidate: Candidate) => boolean,
): Filter[] {
  if (entries === undefined) return [];
  const must = entries.filter(({ filter }) => filter === 'MUST_HAVE');
  const never = entries.filter(({ filter }) => filter === 'DOESNT_HAVE');
  const can = entries.filter(({ filter = 'CAN_HAVE' }) => filter === 'CAN_HAVE');
  return [
    (candidate) =>
      must.every((entry) => fits(entry, candidate)) &&
      !never.some((entry) => fits(entry, candidate)) &&
      (must.length > 0 || can.length === 0 || can.some((entry) => fits(entry, candidate))),
  ];
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
