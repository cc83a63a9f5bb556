import typia from 'typia';
import type * as contract from '../../browser-pool/contract/discovery.js';
import type { FieldError } from '../../storage/model/errors.js';
import { searchJobs } from '../simulated/jobs-search.js';
import { searchPeople } from '../simulated/people-search.js';
import { typeahead } from '../simulated/typeahead.js';
import { defineCapability } from './capability.js';
import { HASH_ID } from './example-values.js';
import { hasContent, notBlank, refuse } from './rules.js';

/** A search needs a criterion (contract: "Discovery and search"); an order is none. */
function requireCriterion({ keywords, filters: given }: { keywords?: string; filters?: object }): FieldError[] {
  const { sort_by: _, ...filters } = (given ?? {}) as { sort_by?: string };
  return hasContent(keywords) || hasContent(filters) ? [] : refuse('$input', 'at least one keyword or filter');
}

const termsSuggest = defineCapability<contract.Typeahead>({
  name: 'social.typeahead',
  summary: 'Ids for search filters, by the beginning of a name.',
  kind: 'read',
  send: false,
  needs: 'session',
  sealed: false,
  validate: typia.createValidateEquals<contract.TypeaheadInput>(),
  refine: (input) => notBlank(input, ['keyword']),
  schemas: typia.json.schemas<[contract.TypeaheadInput, contract.TypeaheadResult]>(),
  example: {
    input: { kind: 'company', keyword: 'analytical' },
    result: { kind: 'company', items: [{ id: '42', name: 'Analytical Engines' }], state_revision: 1 },
  },
  simulated: typeahead,
});

const peopleSearch = defineCapability<contract.SearchPeople>({
  name: 'social.people.search',
  summary: 'People, by at least one keyword or filter; advance `start` by the number of rows returned.',
  kind: 'read',
  send: false,
  needs: 'session',
  sealed: false,
  validate: typia.createValidateEquals<contract.PeopleSearchInput>(),
  refine: requireCriterion,
  schemas: typia.json.schemas<[contract.PeopleSearchInput, contract.PeopleSearchResult]>(),
  example: {
    input: { keywords: 'engineer', filters: { network: 'F' }, start: 0, count: 10 },
    result: {
      people: [
        {
          member_id: '1906',
          hash_id: HASH_ID,
          public_id: 'grace-hopper',
          member_distance: 2,
          name: 'Grace Hopper',
          headline: 'Compiler author',
          summary: null,
          location: 'New York',
          profile_url: 'https://www.social.test/in/grace-hopper',
          insights: [],
          badgeHoverText: null,
        },
      ],
      start: 0,
      state_revision: 1,
    },
  },
  simulated: searchPeople,
});

const jobsSearch = defineCapability<contract.SearchJobs>({
  name: 'social.jobs.search',
  summary: 'Jobs, by at least one keyword or filter; details of the first `job_details_count` rows.',
  kind: 'read',
  send: false,
  needs: 'session',
  sealed: false,
  validate: typia.createValidateEquals<contract.JobsSearchInput>(),
  refine: requireCriterion,
  schemas: typia.json.schemas<[contract.JobsSearchInput, contract.JobsSearchResult]>(),
  example: {
    input: { keywords: 'compiler', start: 0, count: 10, job_details_count: 1 },
    result: {
      jobs: [
        {
          job_id: '9',
          job_title: 'Compiler engineer',
          job_url: 'https://www.social.test/jobs/9',
          job_company: 'Analytical Engines',
          job_insight: null,
          job_location: 'London',
          easy_apply: true,
          reposted_at: null,
          company: { company_id: '42', public_id: 'analytical-engines', name: 'Analytical Engines' },
          location: 'London',
          description: 'Write the compiler of the engine.',
          posting: {
            listed_at: '2026-01-01T00:00:00.000Z',
            employment_type: 'Full-time',
            experience_level: 'Senior',
            workplace_type: 'Hybrid',
          },
          application: { apply_url: null, applicants: 3, closed: false },
        },
      ],
      start: 0,
      state_revision: 1,
    },
  },
  simulated: searchJobs,
});

/** Contract: "Discovery and search"; the recruiter's two stand in `recruiter.ts`. */
export const discovery = [termsSuggest, peopleSearch, jobsSearch] as const;
