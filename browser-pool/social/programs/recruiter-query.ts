import type { AnyNamedFilter, RecruiterPeopleSearchInput } from '../../contract/recruiter.js';
import type { NameResolver } from './typeahead.js';

/**
 * The recruiter's filters as its search takes them (contract: "Recruiter search filters"). What they may hold
 * was checked before the run; here names become ids and the service's words the site's.
 */

type NamedList =
  | 'titles'
  | 'companies'
  | 'locations'
  | 'skills'
  | 'schools'
  | 'industries'
  | 'current_companies'
  | 'past_companies';

/** Lists of names: the site's field, and the kind of its typeahead that knows their ids. */
const NAMED: Record<NamedList, { field: string; kind: string }> = {
  titles: { field: 'titles', kind: 'job_title' },
  companies: { field: 'companies', kind: 'company' },
  locations: { field: 'locations', kind: 'location' },
  skills: { field: 'skills', kind: 'skill' },
  schools: { field: 'schools', kind: 'school' },
  industries: { field: 'industries', kind: 'industry' },
  current_companies: { field: 'currentCompanies', kind: 'company' },
  past_companies: { field: 'pastCompanies', kind: 'company' },
};

/** The search's body, without its page. Throws `validation_error` for a name that typeahead does not know. */
export async function recruiterQuery(
  input: Omit<RecruiterPeopleSearchInput, 'start' | 'count'>,
  names: NameResolver,
): Promise<Record<string, unknown>> {
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
  };
  for (const [list, { field, kind }] of Object.entries(NAMED) as [NamedList, { field: string; kind: string }][]) {
    const entries: object[] = [];
    const wanted: (string | AnyNamedFilter)[] = input[list] ?? [];
    for (const [place, entry] of wanted.entries()) {
      const named = typeof entry === 'string' ? { name: entry } : entry;
      entries.push(await criterion(named, kind, `input.${list}[${place}]`, names));
    }
    query[field] = entries;
  }
  return Object.fromEntries(Object.entries(query).filter(([, value]) => isCriterion(value)));
}

async function criterion(named: AnyNamedFilter, kind: string, path: string, names: NameResolver): Promise<object> {
  const { name, title_id, filter_type, time_scope, geo_scope } = named;
  const scope = time_scope ?? geo_scope;
  return {
    id: title_id === undefined ? await names.id(kind, name, path) : String(title_id),
    ...(filter_type !== undefined && { filter: filter_type.toUpperCase() }),
    ...(scope !== undefined && { scope: scope.toUpperCase() }),
  };
}

/** The site refuses empty lists and texts, which select nothing. */
function isCriterion(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== '';
}
