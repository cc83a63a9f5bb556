import typia from 'typia';
import { LIMITS } from '../../browser-pool/contract/limits.js';
import type { RecruiterFilters, RecruiterSearchSubmission } from '../../browser-pool/contract/recruiter.js';
import type { FieldError } from '../../storage/model/errors.js';
import { validated } from '../../storage/model/examined.js';
import { fieldError } from '../../storage/model/field-errors.js';
import { hasContent, refuse } from './rules.js';

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
] as const satisfies (keyof RecruiterFilters)[];

/** Every filter that is a list. */
export const FILTER_LISTS = [
  ...NAME_LISTS,
  'company_sizes',
  'job_functions',
  'seniorities',
  'networks',
  'profile_languages',
] as const satisfies (keyof RecruiterFilters)[];

/**
 * What the recruiter's filters may hold (contract: "Recruiter search filters"), checked when the operation's
 * turn comes: a fault ends it as `failed` with `validation_error` (OPS-6). Gives paths like `input.titles[0].time_scope`;
 * empty when there are none.
 */
export function validateRecruiterFilters(input: RecruiterSearchSubmission): FieldError[] {
  const { keywords: _keywords, start: _start, count: _count, ...filters } = input;
  const validation = validated(validateFilters, filters);
  if (!validation.success) {
    const shown = validation.errors.slice(0, LIMITS.stored_findings);
    return shown.map((error) => fieldError(error, { root: 'input', secret: false }));
  }
  const errors = [...blankNames(validation.data), ...ranges(validation.data)];
  if (filters.distance !== undefined && !hasContent(filters.locations) && !hasContent(filters.zip_codes)) {
    errors.push(...refuse('input.distance', 'locations or zip_codes beside it'));
  }
  return errors;
}

function blankNames(filters: RecruiterFilters): FieldError[] {
  return NAME_LISTS.flatMap((key) => {
    const entries: (string | { name: string })[] = filters[key] ?? [];
    return entries.flatMap((entry, i) => {
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
