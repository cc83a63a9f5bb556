import type { IValidation } from 'typia';
import type { FieldError } from '../../storage/model/errors.js';

const ECHOED_CHARACTERS = 100;

/**
 * typia's finding as a caller reads it: a path like `input.profile_id`, what was expected, and the value when it is a
 * short plain one and not `secret` (HTTP-2). An unknown field's value is never repeated: it may be a secret.
 */
export function fieldError({ path, expected, value }: IValidation.IError, secret: boolean): FieldError {
  const unknownField = expected === 'undefined';
  const error: FieldError = { path: path.slice(1), expected: path === '$input' ? 'an object' : readable(expected) };
  if (!secret && !unknownField && isShort(value)) error.value = value;
  return error;
}

/** A union without what typia adds for optional fields and for grouping. */
function readable(expected: string): string {
  if (expected === 'undefined') return 'no such field';
  const ungrouped = expected.replace(/^\((.*)\)$/, '$1').replace(/ \| undefined$/, '');
  return ungrouped.replace(/^\(([^()]*)\)$/, '$1');
}

function isShort(value: unknown): boolean {
  if (value === undefined) return false;
  return typeof value === 'string' ? value.length <= ECHOED_CHARACTERS : typeof value !== 'object' || value === null;
}
