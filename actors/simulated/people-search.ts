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

function criteriaFor(self: Self): Criteria<PeopleFilters, people.Person> {
  const id =
    (base: number, place: (person: people.Person) => number) =>
    (wanted: string): Test =>
    (person) =>
      wanted.split(',').includes(String(base + place(person)));
  const name =
    (value: (person: people.Person) => string) =>
    (wanted: string): Test =>
    (person) =>
      contains(value(person), wanted);
  const company = (person: people.Person) => people.companyOf(person);
  const pastCompany = (person: people.Person) => people.word(COMPANIES, person.pastCompany);
  const school = (person: people.Person) => people.word(SCHOOLS, person.school);
  const personNamed = (wanted: string) => page(people.allMembers(), (p) => contains(people.nameOf(p), wanted), 0, 1)[0];
  const follows = (hashId: string): Test => {
    const followed = seedOf(hashId);
    return (person) => mix(followed, person.seed) % 12 === 0;
  };
  const nobody: Test = () => false;
  return {
    location_id: id(ID_BASE.location, (p) => p.location),
    current_company_id: id(ID_BASE.company, (p) => p.company),
    past_company_id: id(ID_BASE.company, (p) => p.pastCompany),
    industry_id: id(ID_BASE.industry, people.industryPlaceOf),
    school_id: id(ID_BASE.school, (p) => p.school),
    service_category_id: id(ID_BASE.service_category, (p) => p.serviceCategory),
    network: (wanted) => {
      const degrees = wanted.split(',').map((code) => NETWORKS[code]);
      return (person) => degrees.includes(distanceTo(self, person.slug));
    },
    connection_of: connectedTo,
    follower_of: follows,
    profile_language: (wanted) => (person) => wanted.split(',').includes(person.language),
    first_name: name((p) => p.firstName),
    last_name: name((p) => p.lastName),
    title: name(people.titleOf),
    company: name(company),
    school: name(school),
    location_name: name(people.locationOf),
    current_company_name: name(company),
    past_company_name: name(pastCompany),
    industry_name: name(people.industryOf),
    connection_of_name: (wanted) => {
      const other = personNamed(wanted);
      return other ? connectedTo(other.hashId) : nobody;
    },
    follower_of_name: (wanted) => {
      const other = personNamed(wanted);
      return other ? follows(other.hashId) : nobody;
    },
    school_name: name(school),
    service_category_name: name((p) => people.word(SERVICE_CATEGORIES, p.serviceCategory)),
    open_to_volunteer: (wanted) => (person) => person.openToVolunteer === wanted,
  };
}

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
