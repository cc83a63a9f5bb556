import type { NameResolver } from './typeahead.js';

/**
 * The recruiter's filters as its search takes them (contract: the table "Recruiter search filters"). What they may hold
 * was checked before the run; here names become ids and the service's words the site's.
 */
export interface RecruiterInput {
  start?: number;
  count?: number;
  keywords?: string;
  titles?: (string | Named)[];
  companies?: (string | Named)[];
  locations?: (string | Named)[];
  skills?: (string | Named)[];
  schools?: (string | Named)[];
  industries?: (string | Named)[];
  current_companies?: (string | Named)[];
  past_companies?: (string | Named)[];
  first_names?: string[];
  last_names?: string[];
  zip_codes?: string[];
  company_sizes?: string[];
  job_functions?: (number | string)[];
  seniorities?: (number | string)[];
  networks?: string[];
  profile_languages?: string[];
  recently_joined?: number;
  graduation_years?: { min?: number; max?: number };
  yoe?: { min?: number; max?: number };
  is_veteran?: boolean;
  distance?: number;
}

interface Named {
  name: string;
  title_id?: number | string;
  filter_type?: string;
  time_scope?: string;
  geo_scope?: string;
}

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
export async function recruiterQuery(input: RecruiterInput, names: NameResolver): Promise<Record<string, unknown>> {
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
    for (const [place, entry] of (input[list] ?? []).entries()) {
      const named = typeof entry === 'string' ? { name: entry } : entry;
      entries.push(await criterion(named, kind, `input.${list}[${place}]`, names));
    }
    query[field] = entries;
  }
  return Object.fromEntries(Object.entries(query).filter(([, value]) => asks(value)));
}

async function criterion(named: Named, kind: string, path: string, names: NameResolver): Promise<object> {
  const { name, title_id, filter_type, time_scope, geo_scope } = named;
  const scope = time_scope ?? geo_scope;
  return {
    id: title_id === undefined ? await names.id(kind, name, path) : String(title_id),
    ...(filter_type !== undefined && { filter: filter_type.toUpperCase() }),
    ...(scope !== undefined && { scope: scope.toUpperCase() }),
  };
}

/** The site refuses empty lists and texts: they ask for nothing. */
function asks(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== '';
}
