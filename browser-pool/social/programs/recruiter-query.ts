import type {
  AnyNamedFilter,
  RecruiterFilters,
  RecruiterPeopleSearchInput,
  RecruiterTypeaheadKind,
} from '../../contract/recruiter.js';
import type { Criterion, RecruiterQuery } from '../site/endpoints.js';
import type { NameResolver } from './typeahead.js';

/**
 * The recruiter's filters as its search takes them (contract: "Recruiter search filters"). What they may hold
 * was checked before the run; here names become ids.
 */

/** Lists of names: the field of the search, and the kind of its typeahead that knows their ids. */
const NAMED = {
  titles: { field: 'titles', kind: 'job_title' },
  companies: { field: 'companies', kind: 'company' },
  locations: { field: 'locations', kind: 'location' },
  skills: { field: 'skills', kind: 'skill' },
  schools: { field: 'schools', kind: 'school' },
  industries: { field: 'industries', kind: 'industry' },
  current_companies: { field: 'currentCompanies', kind: 'company' },
  past_companies: { field: 'pastCompanies', kind: 'company' },
} satisfies Partial<Record<keyof RecruiterFilters, { field: keyof RecruiterQuery; kind: RecruiterTypeaheadKind }>>;
type NamedList = keyof typeof NAMED;

/** The search's request, without its page. Throws `validation_error` for a name that typeahead does not know. */
export async function recruiterQuery(
  input: Omit<RecruiterPeopleSearchInput, 'start' | 'count'>,
  names: NameResolver,
): Promise<RecruiterQuery> {
  const query: Record<string, unknown> = {
    keywords: input.keywords?.trim(),
    firstNames: input.first_names,
    lastNames: input.last_names,
    zipCodes: input.zip_codes,
    companySizes: input.company_sizes,
    jobFunctions: input.job_functions?.map(Number),
    seniorities: input.seniorities?.map(Number),
    networks: input.networks,
    profileLanguages: input.profile_languages,
    recentlyJoined: input.recently_joined,
    graduationYear: input.graduation_years,
    yearsOfExperience: input.yoe,
    veteran: input.is_veteran,
    distance: input.distance,
  } satisfies { [Field in keyof RecruiterQuery]?: RecruiterQuery[Field] | undefined };
  for (const list of Object.keys(NAMED) as NamedList[]) {
    const { field, kind } = NAMED[list];
    const entries: Criterion[] = [];
    const wanted: (string | AnyNamedFilter)[] = input[list] ?? [];
    for (const [place, entry] of wanted.entries()) {
      const named = typeof entry === 'string' ? { name: entry } : entry;
      entries.push(await criterion(named, kind, `input.${list}[${place}]`, names));
    }
    query[field] = entries;
  }
  return Object.fromEntries(Object.entries(query).filter(([, value]) => isCriterion(value)));
}

async function criterion(
  named: AnyNamedFilter,
  kind: RecruiterTypeaheadKind,
  path: string,
  names: NameResolver,
): Promise<Criterion & { scope?: string }> {
  const { name, title_id, filter_type, time_scope, geo_scope } = named;
  const scope = time_scope ?? geo_scope;
  return {
    id: title_id === undefined ? await names.id(kind, name, path) : String(title_id),
    ...(filter_type !== undefined && { filter: filter_type }),
    ...(scope !== undefined && { scope }),
  };
}

/** The site refuses empty lists and texts, which select nothing. */
function isCriterion(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== '';
}
