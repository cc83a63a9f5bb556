import type { IValidation } from 'typia';
import type { FieldError } from './errors.js';

/** A longer text is not repeated in an error. */
const ECHOED_CHARACTERS = 100;
/** A longer path, which a caller's own keys can make, is cut off. */
const PATH_CHARACTERS = 300;

/** How a finding is written down. */
export interface FieldErrorOptions {
  /** Stands for `$input` at the head of the path: `body`, `query`, `input`. */
  root: string;
  /** The value must not be repeated. */
  secret: boolean;
}

/**
 * A finding of typia as a caller reads it (HTTP-2): a path like `input.profile_id`, what was expected there, and the value
 * when it is short, plain and not secret. The value of an unknown field is never repeated: it may be anything.
 */
export function fieldError(
  { path, expected, value }: IValidation.IError,
  { root, secret }: FieldErrorOptions,
): FieldError {
  const unknownField = expected === 'undefined';
  const error: FieldError = {
    path: pathFrom(root, path),
    expected: unknownField ? 'no such field' : path === '$input' ? 'an object' : readable(expected),
  };
  if (!secret && !unknownField && isShort(value)) error.value = value;
  return error;
}

const pathFrom = (root: string, path: string): string => shownPath(path.replace('$input', root));

/** The path as an error shows it. */
export function shownPath(path: string): string {
  return path.length > PATH_CHARACTERS ? `${path.slice(0, PATH_CHARACTERS)}…` : path;
}

/** A type as typia writes it, without what it adds for optional fields and for grouping; the service's own objects have no name. */
function readable(expected: string): string {
  const type = ungrouped(ungrouped(expected).replace(/ \| undefined$/, ''));
  return /^(?:\w+Input|Record<.*>)$/.test(type) ? 'an object' : type;
}

/** Without the parentheses around the whole; `(A) | (B)` stays as it is. */
function ungrouped(text: string): string {
  if (!text.startsWith('(')) return text;
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '(') depth++;
    else if (text[i] === ')') depth--;
    if (depth === 0) return i === text.length - 1 ? text.slice(1, -1) : text;
  }
  return text;
}

function isShort(value: unknown): boolean {
  if (value === undefined) return false;
  return typeof value === 'string' ? value.length <= ECHOED_CHARACTERS : typeof value !== 'object' || value === null;
}
