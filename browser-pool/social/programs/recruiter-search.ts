import { RunFailure, unexpectedAnswer } from '../../failures.js';
import type { Program, ProgramOutcome, ProgramRun } from '../../program.js';
import { Endpoints, ProviderRefusal, refusedInput } from '../access/endpoints.js';
import { type CandidateFields, isCandidates } from '../site/search-answers.js';
import type { Site } from '../site/site.js';
import { profileOf } from './profiles.js';
import { type RecruiterInput, recruiterQuery } from './recruiter-query.js';
import { NameResolver, suggestions, typeaheadResult } from './typeahead.js';

/** Programs of the family "recruiter": its typeahead and its search for candidates. */
export function recruiterSearchPrograms(site: Site): [string, Program][] {
  return [
    ['social.recruiter.typeahead', (run) => recruiterTypeahead(run, site).catch(rethrow)],
    ['social.recruiter.people.search', (run) => searchCandidates(run, site).catch(rethrow)],
  ];
}

function rethrow(error: unknown): never {
  throw recruiterRefusal(error);
}

/**
 * What a refusal of the recruiter side means: the session has no contract any more, the account no seat, or a filter
 * makes no sense. Anything else stays what it is.
 */
export function recruiterRefusal(error: unknown): unknown {
  if (!(error instanceof ProviderRefusal)) return error;
  switch (error.reason) {
    case 'recruiter_unavailable':
      return notReady('not_verified', 'no_seat');
    case 'recruiter_contract_required':
      return notReady('needs_switch', 'contract_required');
    case 'invalid_filter':
      return refusedInput(422);
    default:
      return error;
  }
}

function notReady(health: 'not_verified' | 'needs_switch', reason: string): RunFailure {
  const effects = { recruiter: { health, reason, contract: null } };
  return new RunFailure('recruiter_not_ready', { reason }, { definite: true, effects });
}

/** Contract: social.recruiter.typeahead. */
async function recruiterTypeahead(run: ProgramRun, site: Site): Promise<ProgramOutcome> {
  const { kind, keyword } = run.input as { kind: string; keyword: string };
  const endpoints = await Endpoints.open(run, site);
  return { result: typeaheadResult(kind, await suggestions(endpoints, site.paths.recruiterTypeahead, kind, keyword)) };
}

const DEFAULT_CANDIDATES = 10;

/** Contract: social.recruiter.people.search, "Recruiter candidate". An empty page is a result like any other. */
async function searchCandidates(run: ProgramRun, site: Site): Promise<ProgramOutcome> {
  const { start = 0, count = DEFAULT_CANDIDATES, ...criteria } = run.input as RecruiterInput;
  const endpoints = await Endpoints.open(run, site);
  const query = await recruiterQuery(criteria, new NameResolver(endpoints, site.paths.recruiterTypeahead));
  const answer = await endpoints.post(site.paths.recruiterSearch, { ...query, start, count }, isCandidates);
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
}

/** The profile's shape; one that keeps its hash id to itself cannot be messaged at once. */
function candidate(person: CandidateFields): Record<string, unknown> {
  const { candidateId, openToWork, yearsOfExperience } = person.recruiting;
  return {
    source: 'recruiter',
    ...(person.hashId !== null && { hash_id: person.hashId }),
    ...profileOf(person),
    recruiting: { candidate_id: candidateId, open_to_work: openToWork, years_of_experience: yearsOfExperience },
  };
}
