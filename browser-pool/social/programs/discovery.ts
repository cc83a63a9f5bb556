import type { PersonRow, SearchPeople } from '../../contract/discovery.js';
import { unexpectedAnswer } from '../../failures.js';
import { Endpoints } from '../access/endpoints.js';
import { isPeople, type PeopleAnswer } from '../site/answers.js';
import type { PeopleFacet } from '../site/endpoints.js';
import { defineProgram } from './define.js';
import { type FacetTable, facets } from './facets.js';
import { steps } from './profiles.js';
import { NameResolver } from './typeahead.js';

/** Filters by name: what takes the id, and the kind of name. */
const NAMED: FacetTable<PeopleFacet>['named'] = {
  location_name: { facet: 'location_id', kind: 'location' },
  current_company_name: { facet: 'current_company_id', kind: 'company' },
  past_company_name: { facet: 'past_company_id', kind: 'company' },
  industry_name: { facet: 'industry_id', kind: 'industry' },
  connection_of_name: { facet: 'connection_of', kind: 'people' },
  follower_of_name: { facet: 'follower_of', kind: 'people' },
  school_name: { facet: 'school_id', kind: 'school' },
  service_category_name: { facet: 'service_category_id', kind: 'service_category' },
};

const DEFAULT_PEOPLE = 10;

/** Contract: social.people.search, "Row shapes". */
const searchPeople = defineProgram<SearchPeople>('social.people.search', async (run, site) => {
  const { input } = run;
  const { start = 0, count = DEFAULT_PEOPLE } = input;
  const endpoints = await Endpoints.open(run, site);
  const names = new NameResolver(endpoints, 'typeahead');
  const { parameters } = site.endpoints.peopleSearch;
  const has = (facet: PeopleFacet) => parameters[facet] !== undefined;
  const filters = await facets({ named: NAMED, has, single: site.singleFacets.people }, input.filters ?? {}, names);
  const search = { keywords: input.keywords?.trim() || undefined, start, count, ...filters };
  const { data, paging } = await endpoints.get('peopleSearch', search, isPeople);
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
    member_distance: steps(person.distance),
    name: person.name,
    headline: person.headline,
    summary: person.summary,
    location: person.location,
    profile_url: person.profileUrl,
    insights: person.insights ?? [],
    badgeHoverText: person.badgeHoverText,
  };
}
