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
