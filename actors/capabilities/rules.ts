import type { FieldError } from '../../storage/model/errors.js';

/** One field error as a list, for rules that are a chain of conditions. */
export function refuse(path: string, expected: string): FieldError[] {
  return [{ path, expected }];
}

/** The names of `keys` that the input holds. */
function presentKeys(input: Record<string, unknown>, keys: readonly string[]): string[] {
  return keys.filter((key) => input[key] !== undefined);
}

/** Exactly one of the keys must be there. */
export function exactlyOne(input: Record<string, unknown>, keys: readonly string[]): FieldError[] {
  return presentKeys(input, keys).length === 1 ? [] : refuse('$input', `exactly one of ${keys.join(', ')}`);
}

/** At most one of the keys may be there. */
export function atMostOne(input: Record<string, unknown>, keys: readonly string[]): FieldError[] {
  return presentKeys(input, keys).length <= 1 ? [] : refuse('$input', `at most one of ${keys.join(', ')}`);
}

/** The texts under these keys must hold more than blanks: sites differ in what they make of those. */
export function notBlank(input: Record<string, unknown>, keys: readonly string[]): FieldError[] {
  return keys.flatMap((key) =>
    input[key] === undefined || hasContent(input[key]) ? [] : refuse(`$input.${key}`, 'a text that is not blank'),
  );
}

/** The last millisecond that a date can be. */
const LAST_MOMENT_MS = 8_640_000_000_000_000;

/** The times under these keys must be such as a date can be (OPS-18). */
export function moments(input: Record<string, unknown>, keys: readonly string[]): FieldError[] {
  return keys.flatMap((key) =>
    Number(input[key] ?? 0) <= LAST_MOMENT_MS ? [] : refuse(`$input.${key}`, `at most ${LAST_MOMENT_MS}`),
  );
}

/**
 * True for text that is not blank, a list or object that is not empty, and any number or boolean. A search whose
 * criteria have no content is refused.
 */
export function hasContent(value: unknown): boolean {
  if (typeof value === 'string') return value.trim() !== '';
  if (value === null || value === undefined) return false;
  if (Array.isArray(value)) return value.length > 0;
  return typeof value === 'object' ? Object.values(value).some(hasContent) : true;
}
