import type { PeopleFilters, PersonRow, SearchPeople } from '../../browser-pool/contract/discovery.js';
import { allOf, type Criteria, contains, matcher, page } from './criteria.js';
import * as people from './people.js';
import { connectedTo, distanceTo, type Self } from './relationship.js';
import type { SimulatedAnswer } from './request.js';
import { mix, seedOf } from './seeded-random.js';
import { idNamed, type NameKind, unknownNames } from './typeahead.js';
import { ID_BASE, SCHOOLS } from './vocabulary.js';

/** Ordinary people search (contract: "Discovery and search"). */

export const DEFAULT_COUNT = 10;
type Test = (person: people.Person) => boolean;

const NETWORKS: Record<string, number> = { F: 1, S: 2, O: 3 };

/** People of one of the ids that a filter lists; ids are places counted from `base`. */
const idIs =
  (base: number, place: (person: people.Person) => number) =>
  (wanted: string): Test =>
  (person) =>
    wanted.split(',').includes(String(base + place(person)));

const nameHolds =
  (value: (person: people.Person) => string) =>
  (wanted: string): Test =>
  (person) =>
    contains(value(person), wanted);

function follows(hashId: string): Test {
  const followed = seedOf(hashId);
  return (person) => mix(followed, person.seed) % 12 === 0;
}

/** Filters that take a name, and what it is the name of. */
const NAMED = {
  location_name: 'location',
  current_company_name: 'company',
  past_company_name: 'company',
  industry_name: 'industry',
  connection_of_name: 'people',
  follower_of_name: 'people',
  school_name: 'school',
  service_category_name: 'service_category',
} as const satisfies Partial<Record<keyof PeopleFilters, NameKind>>;

/** The test of the id that a name stands for. */
const byName =
  (filter: keyof typeof NAMED, test: (id: string) => Test) =>
  (name: string): Test => {
    const id = idNamed(NAMED[filter], name);
    return id === undefined ? () => false : test(id);
  };

function criteriaFor(self: Self): Criteria<PeopleFilters, people.Person> {
  return {
    ...CRITERIA,
    network: (wanted) => {
      const degrees = wanted.split(',').map((code) => NETWORKS[code]);
      return (person) => degrees.includes(distanceTo(self, person.slug));
    },
  };
}

const BY_ID = {
  location_id: idIs(ID_BASE.location, (person) => person.location),
  current_company_id: idIs(ID_BASE.company, (person) => person.company),
  past_company_id: idIs(ID_BASE.company, (person) => person.pastCompany),
  industry_id: idIs(ID_BASE.industry, people.industryPlaceOf),
  school_id: idIs(ID_BASE.school, (person) => person.school),
  service_category_id: idIs(ID_BASE.service_category, (person) => person.serviceCategory),
};

const CRITERIA: Omit<Criteria<PeopleFilters, people.Person>, 'network'> = {
  ...BY_ID,
  connection_of: connectedTo,
  follower_of: follows,
  profile_language: (wanted) => (person) => wanted.split(',').includes(person.language),
  first_name: nameHolds((person) => person.firstName),
  last_name: nameHolds((person) => person.lastName),
  title: nameHolds(people.titleOf),
  company: nameHolds(people.companyOf),
  school: nameHolds((person) => people.word(SCHOOLS, person.school)),
  location_name: byName('location_name', BY_ID.location_id),
  current_company_name: byName('current_company_name', BY_ID.current_company_id),
  past_company_name: byName('past_company_name', BY_ID.past_company_id),
  industry_name: byName('industry_name', BY_ID.industry_id),
  connection_of_name: byName('connection_of_name', connectedTo),
  follower_of_name: byName('follower_of_name', follows),
  school_name: byName('school_name', BY_ID.school_id),
  service_category_name: byName('service_category_name', BY_ID.service_category_id),
  open_to_volunteer: (wanted) => (person) => person.openToVolunteer === wanted,
};

export const searchPeople: SimulatedAnswer<SearchPeople> = ({ input, self }) => {
  const start = input.start ?? 0;
  const unknown = unknownNames(NAMED, input.filters);
  if (unknown.length > 0) return { invalid: unknown };
  const worded = matcher(input.keywords);
  const filtered = allOf(criteriaFor(self), input.filters);
  const test = (person: people.Member) => worded(person.text) && filtered(person);
  const found = page(people.allMembers(), test, start, input.count ?? DEFAULT_COUNT);
  return { result: { people: found.map((person) => rowOf(self, person)), start } };
};

function rowOf(self: Self, person: people.Person): PersonRow {
  const distance = distanceTo(self, person.slug);
  return {
    member_id: person.memberId,
    hash_id: person.hashId,
    public_id: person.slug,
    member_distance: distance,
    name: people.nameOf(person),
    headline: people.headlineOf(person),
    summary: null,
    location: people.locationOf(person),
    profile_url: people.profileUrlOf(person),
    insights: distance === 2 ? [`${1 + (mix(self.seed, person.seed) % 20)} shared connections`] : [],
    badgeHoverText: person.openToVolunteer ? 'Open to volunteer' : null,
  };
}
