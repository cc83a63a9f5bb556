import { RunFailure, unfamiliar } from '../failures.js';
import type { Program, ProgramOutcome, ProgramRun } from '../program.js';
import { isPeople, type PeopleAnswer } from './answers.js';
import { Endpoints, type Query } from './endpoints.js';
import type { Site } from './site.js';

/** Programs of the family "discovery": searches. */
export function discoveryPrograms(site: Site): [string, Program][] {
  return [['social.people.search', (run) => searchPeople(run, site)]];
}

/** The site's facets by the filter that selects them. */
const PEOPLE_FACETS: Record<string, string> = {
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
};

/** How far away somebody is, in steps. */
const DISTANCE: Record<PeopleAnswer['data'][number]['distance'], number> = { SELF: 0, F: 1, S: 2, O: 3 };

const DEFAULT_PEOPLE = 10;

/** Spec: social.people.search, "Ordinary people row". */
async function searchPeople(run: ProgramRun, site: Site): Promise<ProgramOutcome> {
  const input = run.input as {
    keywords?: string;
    filters?: Record<string, string | boolean>;
    start?: number;
    count?: number;
  };
  const start = input.start ?? 0;
  const count = input.count ?? DEFAULT_PEOPLE;
  const query: Query = { keywords: input.keywords || undefined, start, count, ...facets(input.filters ?? {}) };
  const endpoints = await Endpoints.open(run, site);
  const { data, paging } = await endpoints.get(site.paths.peopleSearch, query, isPeople);
  if (paging.start !== start || data.length > count) throw unfamiliar('answer');
  return { result: { people: data.map(personRow), start } };
}

function facets(filters: Record<string, string | boolean>): Query {
  const unknown = Object.keys(filters).filter((filter) => !Object.hasOwn(PEOPLE_FACETS, filter));
  if (unknown.length > 0) {
    throw new RunFailure('validation_error', { reason: 'filter_not_available_on_provider', filters: unknown });
  }
  return Object.fromEntries(
    Object.entries(filters)
      .filter(([, value]) => value !== '')
      .map(([filter, value]) => [PEOPLE_FACETS[filter], String(value)]),
  );
}

function personRow(person: PeopleAnswer['data'][number]): Record<string, unknown> {
  return {
    member_id: person.memberId,
    hash_id: person.hashId,
    public_id: person.publicId,
    member_distance: DISTANCE[person.distance],
    name: person.name,
    headline: person.headline,
    summary: person.summary,
    location: person.location,
    profile_url: person.profileUrl,
    insights: person.insights,
    badgeHoverText: person.badgeHoverText,
  };
}
