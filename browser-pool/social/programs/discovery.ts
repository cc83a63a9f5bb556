import type { PersonRow, SearchPeople } from '../../contract/discovery.js';
import { unexpectedAnswer } from '../../failures.js';
import { Endpoints, type Query } from '../access/endpoints.js';
import { isPeople, type PeopleAnswer } from '../site/answers.js';
import { defineProgram } from './define.js';
import { type FacetTable, facets } from './facets.js';
import { STEPS } from './profiles.js';
import { NameResolver } from './typeahead.js';

const PEOPLE_FACETS: FacetTable = {
  plain: {
    location_id: 'locationId',
    current_company_id: 'currentCompanyId',
    past_company_id: 'pastCompanyId',
    industry_id: 'industryId',
    network: 'network',
    connection_of: 'connectionOf',
    follower_of: 'followerOf',
    profile_language: 'profileLanguage',
    school_id: 'schoolId',
    service_category_id: 'serviceCategoryId',
    first_name: 'firstName',
    last_name: 'lastName',
    title: 'title',
    company: 'company',
    school: 'school',
    open_to_volunteer: 'openToVolunteer',
  },
  named: {
    location_name: { facet: 'locationId', kind: 'location' },
    current_company_name: { facet: 'currentCompanyId', kind: 'company' },
    past_company_name: { facet: 'pastCompanyId', kind: 'company' },
    industry_name: { facet: 'industryId', kind: 'industry' },
    connection_of_name: { facet: 'connectionOf', kind: 'people' },
    follower_of_name: { facet: 'followerOf', kind: 'people' },
    school_name: { facet: 'schoolId', kind: 'school' },
    service_category_name: { facet: 'serviceCategoryId', kind: 'service_category' },
  },
  single: new Set(['connectionOf', 'followerOf']),
};

const DEFAULT_PEOPLE = 10;

/** Contract: social.people.search, "Row shapes". */
const searchPeople = defineProgram<SearchPeople>('social.people.search', async (run, site) => {
  const { input } = run;
  const { start = 0, count = DEFAULT_PEOPLE } = input;
  const endpoints = await Endpoints.open(run, site);
  const names = new NameResolver(endpoints, site.paths.typeahead);
  const filters = await facets(PEOPLE_FACETS, input.filters ?? {}, names);
  const query: Query = { keywords: input.keywords?.trim() || undefined, start, count, ...filters };
  const { data, paging } = await endpoints.get(site.paths.peopleSearch, query, isPeople);
  if (paging.start !== start || data.length > count) throw unexpectedAnswer('answer');
  return { result: { people: data.map(personRow), start } };
});

/** The search for people. */
export const discoveryPrograms = [searchPeople] as const;

function personRow(person: PeopleAnswer['data'][number]): PersonRow {
  return {
    member_id: person.memberId,
    hash_id: person.hashId,
    public_id: person.publicId,
    member_distance: STEPS[person.distance],
    name: person.name,
    headline: person.headline,
    summary: person.summary,
    location: person.location,
    profile_url: person.profileUrl,
    insights: person.insights,
    badgeHoverText: person.badgeHoverText,
  };
}
