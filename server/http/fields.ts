import type { IValidation, tags } from 'typia';
import { isSecretPath } from '../../storage/log/secret-names.js';
import { validated } from '../../storage/model/examined.js';
import { fieldError } from '../../storage/model/field-errors.js';
import { invalid, invalidField } from './answer.js';

/** At least one character that is not white space. */
export type NonBlank = tags.TagBase<{
  target: 'string';
  kind: 'nonBlank';
  value: 'not blank';
  validate: `/\\S/.test($input)`;
  exclusive: true;
  schema: { pattern: '\\S' };
}>;

/** Text of keys and codes (HTTP-17): printable ASCII, not all blank. */
export type Printable<Min extends number, Max extends number> = string &
  tags.MinLength<Min> &
  tags.MaxLength<Max> &
  // One way to match each text: with two, a long text that does not match takes its length squared.
  tags.Pattern<'^ *[!-~][ -~]*$'>;

// Not typia's own format: that accepts `urn:uuid:`, which PostgreSQL refuses.
/** An id of the service. */
export type Uuid = string & UuidText;
type UuidText = tags.TagBase<{
  target: 'string';
  kind: 'uuid';
  value: undefined;
  validate: `/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test($input)`;
  exclusive: true;
  schema: { format: 'uuid' };
}>;

/** A moment in UTC, in ISO 8601 with milliseconds (HTTP-16). */
export type Timestamp = string & tags.Format<'date-time'>;

/** A count or a generation: a whole number from 0. */
export type Count = number & tags.Type<'uint32'>;

/** A moment of a request that its type has let pass, at its path (`query.since`); throws 400 for a leap second, which is RFC 3339, but no Date. */
export function momentAt(path: string, text: string): Date {
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) throw invalidField(path, 'a point in time', text);
  return time;
}

/** Checks a value against a type. */
export type Validator<T> = (input: unknown) => IValidation<T>;

/** `input` as `T`; throws 400 `validation_error` whose paths begin with `root` (`body.region`). */
export function check<T>(validator: Validator<T>, input: unknown, root: 'body' | 'query'): T {
  const result = validated(validator, input);
  if (result.success) return result.data;
  throw invalid(result.errors.map((error) => fieldError(error, { root, secret: isSecretPath(error.path) })));
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** An id of the service in a path, in lower case; undefined for other text (HTTP-8). */
export function pathId(text: string | undefined): string | undefined {
  const id = text?.toLowerCase();
  return id !== undefined && UUID.test(id) ? id : undefined;
}

/** True for 1–128 printable characters, not all blank: idempotency keys and request ids. */
export function isPrintableKey(text: string): boolean {
  return /^[ -~]{1,128}$/.test(text) && text.trim() !== '';
}
