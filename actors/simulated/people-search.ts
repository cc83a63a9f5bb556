import type { PeopleFilters, PersonRow, SearchPeople } from '../../browser-pool/contract/discovery.js';
import { allOf, type Criteria, contains, matcher, page } from './criteria.js';
import * as people from './people.js';
import { connectedTo, distanceTo, type Self } from './relationship.js';
import type { SimulatedAnswer } from './request.js';
import { mix, seedOf } from './seeded-random.js';
import { COMPANIES, ID_BASE, SCHOOLS, SERVICE_CATEGORIES } from './vocabulary.js';

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

/** The test for the first member of a name; a name without a member finds no person. */
const ofNamed =
  (test: (hashId: string) => Test) =>
  (wanted: string): Test => {
    const [other] = page(people.allMembers(), (person) => contains(people.nameOf(person), wanted), 0, 1);
    return other ? test(other.hashId) : () => false;
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

const CRITERIA: Omit<Criteria<PeopleFilters, people.Person>, 'network'> = {
  location_id: idIs(ID_BASE.location, (person) => person.location),
  current_company_id: idIs(ID_BASE.company, (person) => person.company),
  past_company_id: idIs(ID_BASE.company, (person) => person.pastCompany),
  industry_id: idIs(ID_BASE.industry, people.industryPlaceOf),
  school_id: idIs(ID_BASE.school, (person) => person.school),
  service_category_id: idIs(ID_BASE.service_category, (person) => person.serviceCategory),
  connection_of: connectedTo,
  follower_of: follows,
  profile_language: (wanted) => (person) => wanted.split(',').includes(person.language),
  first_name: nameHolds((person) => person.firstName),
  last_name: nameHolds((person) => person.lastName),
  title: nameHolds(people.titleOf),
  company: nameHolds(people.companyOf),
  school: nameHolds((person) => people.word(SCHOOLS, person.school)),
  location_name: nameHolds(people.locationOf),
  current_company_name: nameHolds(people.companyOf),
  past_company_name: nameHolds((person) => people.word(COMPANIES, person.pastCompany)),
  industry_name: nameHolds(people.industryOf),
  connection_of_name: ofNamed(connectedTo),
  follower_of_name: ofNamed(follows),
  school_name: nameHolds((person) => people.word(SCHOOLS, person.school)),
  service_category_name: nameHolds((person) => people.word(SERVICE_CATEGORIES, person.serviceCategory)),
  open_to_volunteer: (wanted) => (person) => person.openToVolunteer === wanted,
};

export const searchPeople: SimulatedAnswer<SearchPeople> = ({ input, self }) => {
  const start = input.start ?? 0;
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
