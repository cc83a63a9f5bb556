import typia, { type tags } from 'typia';
import type { Integer, Text } from '../../browser-pool/contract/fields.js';
import type { FieldError } from '../../storage/model/errors.js';
import { fieldError } from './field-errors.js';
import { hasContent, refuse } from './rules.js';

/**
 * What the recruiter's filters may hold (contract: the table "Recruiter search filters"). Both providers ask when the
 * operation's turn comes; what is wrong ends it as `failed` with `validation_error` (OPS-6).
 */

type Name = Text<1, 100>;
/** A code of a taxonomy, as a number or its digits. */
type Code = Integer<0, 2147483647> | (string & tags.Pattern<'^[0-9]{1,10}$'>);

export type FilterType = 'can_have' | 'must_have' | 'doesnt_have';
export type TimeScope = 'current_or_past' | 'current' | 'past' | 'past_not_current';
export type GeoScope = 'current' | 'preferred_not_current' | 'current_or_preferred';

export type NamedFilter = { name: Name; filter_type?: FilterType };
export type TitleFilter = NamedFilter & { title_id?: Code; time_scope?: TimeScope };
export type CompanyFilter = NamedFilter & { time_scope?: TimeScope };
export type LocationFilter = NamedFilter & { geo_scope?: GeoScope };
export type IntegerRange = { min?: Integer<0, 9999>; max?: Integer<0, 9999> };

export type RecruiterFilters = {
  titles?: (Name | TitleFilter)[];
  first_names?: Name[];
  last_names?: Name[];
  locations?: (Name | LocationFilter)[];
  skills?: (Name | NamedFilter)[];
  companies?: (Name | CompanyFilter)[];
  schools?: (Name | NamedFilter)[];
  industries?: (Name | NamedFilter)[];
  current_companies?: (Name | NamedFilter)[];
  past_companies?: (Name | NamedFilter)[];
  zip_codes?: Name[];
  /** Self-employed, 1–10, 11–50, 51–200, 201–500, 501–1000, 1001–5000, 5001–10000, 10000+. */
  company_sizes?: ('A' | 'B' | 'C' | 'D' | 'E' | 'F' | 'G' | 'H' | 'I')[];
  job_functions?: Code[];
  seniorities?: (Integer<1, 10> | (string & tags.Pattern<'^(?:[1-9]|10)$'>))[];
  /** First degree, second degree, group members, third degree and others. */
  networks?: ('F' | 'S' | 'A' | 'O')[];
  profile_languages?: ('en' | 'es' | 'zh' | 'de' | 'fr' | 'it' | 'pt' | 'nl' | 'in' | 'ms' | 'ro' | 'ru')[];
  /** One day, 2–7 days, 8–14, 15–30, 1–3 months. */
  recently_joined?: Integer<1, 5>;
  graduation_years?: IntegerRange;
  yoe?: IntegerRange;
  is_veteran?: boolean;
  /** Used with geographic criteria. */
  distance?: Integer<1, 2147483647>;
};

const validateFilters = typia.createValidateEquals<RecruiterFilters>();
const NAME_LISTS = [
  'titles',
  'first_names',
  'last_names',
  'locations',
  'skills',
  'companies',
  'schools',
  'industries',
  'current_companies',
  'past_companies',
  'zip_codes',
];

/** The faults of a recruiter search's filters, paths like `input.titles[0].time_scope`; empty when there are none. */
export function validateRecruiterFilters(input: Record<string, unknown>): FieldError[] {
  const { keywords: _keywords, start: _start, count: _count, ...filters } = input;
  const validation = validateFilters(filters);
  if (!validation.success) return validation.errors.map((error) => fieldError(error, false));
  const errors = [...blankNames(filters), ...ranges(validation.data)];
  if (filters.distance !== undefined && !hasContent(filters.locations) && !hasContent(filters.zip_codes)) {
    errors.push(...refuse('input.distance', 'locations or zip_codes beside it'));
  }
  return errors;
}

function blankNames(filters: Record<string, unknown>): FieldError[] {
  return NAME_LISTS.flatMap((key) => {
    const entries = Array.isArray(filters[key]) ? filters[key] : [];
    return entries.flatMap((entry: string | { name: string }, i) => {
      const name = typeof entry === 'string' ? entry : entry.name;
      return name.trim() === '' ? refuse(`input.${key}[${i}]`, 'a name that is not blank') : [];
    });
  });
}

function ranges({ graduation_years, yoe }: RecruiterFilters): FieldError[] {
  return Object.entries({ graduation_years, yoe }).flatMap(([key, range]) => {
    if (range === undefined) return [];
    if (range.min === undefined && range.max === undefined) return refuse(`input.${key}`, 'min, max or both');
    return (range.min ?? 0) <= (range.max ?? Number.POSITIVE_INFINITY)
      ? []
      : refuse(`input.${key}`, 'min not above max');
  });
}
