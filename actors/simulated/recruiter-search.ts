import type {
  AnyNamedFilter,
  Candidate,
  Facet,
  RecruiterFilters,
  SearchCandidates,
} from '../../browser-pool/contract/recruiter.js';
import { sizeCodeOf } from './companies.js';
import { allOf, type Criteria, contains, matcher } from './criteria.js';
import { LIMITS } from './limits.js';
import * as people from './people.js';
import { DEFAULT_COUNT } from './people-search.js';
import { distanceTo, type Self } from './relationship.js';
import type { SimulatedAnswer } from './request.js';
import { mix } from './seeded-random.js';
import { COMPANIES, ID_BASE, SCHOOLS, SKILLS, TITLES, ZIP_CODES } from './vocabulary.js';

/** The recruiter's candidate search (contract: "Recruiter search filters"). */

type Person = people.Person;
type Test = (person: Person) => boolean;

/** Entries of one list: one of those that one can have, all one must have, none one must not. */
function named(
  entries: readonly (string | AnyNamedFilter)[],
  has: (person: Person, entry: AnyNamedFilter) => boolean,
): Test {
  const filters: AnyNamedFilter[] = entries.map((entry) => (typeof entry === 'string' ? { name: entry } : entry));
  const byType = (type: AnyNamedFilter['filter_type']) =>
    filters.filter((entry) => (entry.filter_type ?? 'can_have') === type);
  const can = byType('can_have');
  const must = byType('must_have');
  const not = byType('doesnt_have');
  return (person) =>
    (can.length === 0 || can.some((entry) => has(person, entry))) &&
    must.every((entry) => has(person, entry)) &&
    !not.some((entry) => has(person, entry));
}

/** Whether the filter's time scope is met by what holds at present and what held before. */
function inTime({ time_scope = 'current_or_past' }: AnyNamedFilter, current: boolean, past: boolean): boolean {
  switch (time_scope) {
    case 'current_or_past':
      return current || past;
    case 'current':
      return current;
    case 'past':
      return past;
    case 'past_not_current':
      return past && !current;
    default:
      return time_scope satisfies never;
  }
}

const hasTitle = (place: number, { name, title_id }: AnyNamedFilter) =>
  title_id === undefined
    ? contains(people.word(TITLES, place), name)
    : String(title_id) === String(ID_BASE.job_title + place);
const hasCompany = (place: number, { name }: AnyNamedFilter) => contains(people.word(COMPANIES, place), name);
const within = (value: number, range: { min?: number; max?: number }) =>
  value >= (range.min ?? 0) && value <= (range.max ?? Number.POSITIVE_INFINITY);
const oneOf = <T>(wanted: readonly T[], value: T) => wanted.length === 0 || wanted.includes(value);
const codes = (wanted: readonly (number | string)[]) => wanted.map(String);

const NETWORK_OF = ['', 'F', 'S', 'O'] as const;

function criteriaFor(self: Self): Criteria<RecruiterFilters, Person> {
  return {
    titles: (wanted) => named(wanted, (p, e) => inTime(e, hasTitle(p.title, e), hasTitle(p.pastTitle, e))),
    first_names: (wanted) => named(wanted, (p, { name }) => contains(p.firstName, name)),
    last_names: (wanted) => named(wanted, (p, { name }) => contains(p.lastName, name)),
    locations: (wanted) => named(wanted, (p, { name }) => contains(people.locationOf(p), name)),
    skills: (wanted) =>
      named(wanted, (p, { name }) => p.skills.some((skill) => contains(people.word(SKILLS, skill), name))),
    companies: (wanted) => named(wanted, (p, e) => inTime(e, hasCompany(p.company, e), hasCompany(p.pastCompany, e))),
    schools: (wanted) => named(wanted, (p, { name }) => contains(people.word(SCHOOLS, p.school), name)),
    industries: (wanted) => named(wanted, (p, { name }) => contains(people.industryOf(p), name)),
    current_companies: (wanted) => named(wanted, (p, entry) => hasCompany(p.company, entry)),
    past_companies: (wanted) => named(wanted, (p, entry) => hasCompany(p.pastCompany, entry)),
    zip_codes: (wanted) => (p) => oneOf(wanted, people.word(ZIP_CODES, p.location)),
    company_sizes: (wanted) => (p) => oneOf<string>(wanted, sizeCodeOf(people.companyOf(p))),
    job_functions: (wanted) => (p) => oneOf(codes(wanted), String(ID_BASE.job_function + p.jobFunction)),
    seniorities: (wanted) => (p) => oneOf(codes(wanted), String(p.seniority)),
    networks: (wanted) => (p) =>
      oneOf<string>(wanted, NETWORK_OF[distanceTo(self, p.slug)] ?? '') || (wanted.includes('A') && inGroup(self, p)),
    profile_languages: (wanted) => (p) => oneOf<string>(wanted, p.language),
    recently_joined: (wanted) => (p) => p.joinedBucket === wanted,
    graduation_years: (wanted) => (p) => within(p.graduationYear, wanted),
    yoe: (wanted) => (p) => within(p.yearsOfExperience, wanted),
    is_veteran: (wanted) => (p) => p.veteran === wanted,
    // Widens the geographic criteria beside it; the simulated network has no map, so it changes nothing.
    distance: () => () => true,
  };
}

const inGroup = (self: Self, person: Person) => mix(self.seed, person.memberId.length + person.seed) % 15 === 0;

export const searchCandidates: SimulatedAnswer<SearchCandidates> = ({ input, self }) => {
  const { keywords, start = 0, count = DEFAULT_COUNT, ...filters } = input;
  const worded = matcher(keywords);
  const filtered = allOf(criteriaFor(self), filters);
  const found = people.allMembers().filter((person) => worded(person.text) && filtered(person));
  const candidates = found.slice(start, start + count).map((person) => candidateOf(self, person));
  const words = (keywords ?? '').split(/\s+/).filter(Boolean);
  return {
    result: {
      candidates,
      paging: { start, count: candidates.length, total: found.length },
      total: found.length,
      formatted_total: found.length.toLocaleString('en-US'),
      facets: [facet('location', found, people.locationOf), facet('current_company', found, people.companyOf)],
      query_summary: [...words, ...Object.keys(filters)].join(', '),
      highlight_terms: words,
    },
  };
};

/** One in seven has no hash id and cannot be messaged at once, as with a real recruiter. */
function candidateOf(self: Self, person: Person): Candidate {
  const hidden = mix(person.seed, 50) % 7 === 0;
  const distance = distanceTo(self, person.slug);
  return {
    source: 'recruiter',
    ...(hidden ? {} : { hash_id: person.hashId }),
    ...people.describePerson(person),
    network_distance: distance,
    has_pending_connection_request: null,
    connected_at: null,
    recruiting: {
      candidate_id: person.memberId,
      open_to_work: mix(person.seed, 51) % 3 === 0,
      years_of_experience: person.yearsOfExperience,
    },
  };
}

function facet(name: string, found: readonly Person[], value: (person: Person) => string): Facet {
  const counts = new Map<string, number>();
  for (const person of found) counts.set(value(person), (counts.get(value(person)) ?? 0) + 1);
  const values = [...counts].map(([value, count]) => ({ value, count })).sort((a, b) => b.count - a.count);
  return { name, values: values.slice(0, LIMITS.facet_values) };
}
