import type { Candidate, RecruiterTypeahead, SearchCandidates } from '../../contract/recruiter.js';
import { RunFailure, unexpectedAnswer } from '../../failures.js';
import { Endpoints, ProviderRefusal, refusedInput } from '../access/endpoints.js';
import { type CandidateFields, isCandidates } from '../site/search-answers.js';
import { defineProgram } from './define.js';
import { profileOf } from './profiles.js';
import { recruiterQuery } from './recruiter-query.js';
import { NameResolver, suggestions, typeaheadResult } from './typeahead.js';

/**
 * What a refusal of the recruiter side means: the session has no contract any more, the account no seat, or a filter
 * makes no sense. Anything else stays what it is.
 */
export function recruiterRefusal(error: unknown): unknown {
  if (!(error instanceof ProviderRefusal)) return error;
  switch (error.kind) {
    case 'recruiterUnavailable':
      return notReady('not_verified', 'no_seat');
    case 'recruiterContractRequired':
      return notReady('needs_switch', 'contract_required');
    case 'invalidFilter':
      return refusedInput(error.status, error.word);
    case 'selfTarget':
      return error;
    default:
      return error.kind satisfies never;
  }
}

function notReady(health: 'not_verified' | 'needs_switch', reason: string): RunFailure {
  const effects = { recruiter: { health, reason, contract: null } };
  return new RunFailure('recruiter_not_ready', { reason }, { definite: true, effects });
}

/** Contract: social.recruiter.typeahead. */
const recruiterTypeahead = defineProgram<RecruiterTypeahead>('social.recruiter.typeahead', async (run, site) => {
  const { kind, keyword } = run.input;
  const endpoints = await Endpoints.open(run, site);
  const items = await suggestions(endpoints, 'recruiterTypeahead', kind, keyword).catch(rethrow);
  return { result: typeaheadResult(kind, items) };
});

const DEFAULT_CANDIDATES = 10;

/** Contract: social.recruiter.people.search, "Row shapes". An empty page is a result like any other. */
const searchCandidates = defineProgram<SearchCandidates>('social.recruiter.people.search', async (run, site) => {
  const { start = 0, count = DEFAULT_CANDIDATES, ...criteria } = run.input;
  const endpoints = await Endpoints.open(run, site);
  const names = new NameResolver(endpoints, 'recruiterTypeahead');
  const query = await recruiterQuery(criteria, names).catch(rethrow);
  const answer = await endpoints.post('recruiterSearch', { ...query, start, count }, isCandidates).catch(rethrow);
  const { data, paging } = answer;
  if (paging.start !== start || data.length > count) throw unexpectedAnswer('answer');
  return {
    result: {
      candidates: data.map(candidate),
      paging: { start, count: data.length, total: paging.total },
      total: paging.total,
      formatted_total: answer.formattedTotal,
      facets: answer.facets.map(({ name, values }) => ({
        name,
        values: values.map((value) => ({ value: value.text, count: value.count })),
      })),
      query_summary: answer.querySummary,
      highlight_terms: answer.highlightTerms,
    },
  };
});

/** The recruiter's typeahead and its search for candidates. */
export const recruiterSearchPrograms = [recruiterTypeahead, searchCandidates] as const;

function rethrow(error: unknown): never {
  throw recruiterRefusal(error);
}

/** The profile's shape; a candidate without a hash id cannot be messaged at once. */
function candidate(person: CandidateFields): Candidate {
  const { candidateId = null, openToWork = null, yearsOfExperience = null } = person.recruiting ?? {};
  return {
    source: 'recruiter',
    ...(person.hashId !== null && { hash_id: person.hashId }),
    ...profileOf(person),
    recruiting: { candidate_id: candidateId, open_to_work: openToWork, years_of_experience: yearsOfExperience },
  };
}
