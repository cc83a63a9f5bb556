import { type FieldError, HTTP_ERRORS, HttpError, type HttpErrorCode } from '../../storage/model/errors.js';
import { isUnreachable } from '../../storage/postgres/liveness.js';

/** What a request ends with. The body is JSON text, made once, or made while it is taken; null with 204. */
export interface Answer {
  status: number;
  body: string | MadeBody | null;
  headers?: Record<string, string>;
  /** Media type of the body; JSON when it is absent. */
  contentType?: string;
}

/** A body too large to be held: its length is known before it is made. */
export interface MadeBody {
  bytes: number;
  /** Together as long as was said. The next one is asked for when the client has taken the one before. */
  pieces(): AsyncIterable<Buffer>;
}

export function json(status: number, value: unknown, headers?: Record<string, string>): Answer {
  return { status, body: JSON.stringify(value), ...(headers && { headers }) };
}

export const noContent: Answer = { status: 204, body: null };

/** How the errors of a route look: the specification knows two ways. */
export type ErrorStyle = 'plain' | 'envelope';

/** An error's body (HTTP-2); a 409 is answered with `code` alone. */
export interface ErrorJson {
  code: HttpErrorCode;
  message: string;
  /** Where the request is wrong. */
  errors?: FieldError[];
}

/** A conflict's body, outside the compatibility route. */
export type ConflictJson = Pick<ErrorJson, 'code'>;

/** An error of the compatibility route. */
export interface EnvelopeJson {
  error: { code: string; message: string; details: Record<string, unknown> };
}

/**
 * An error as its route writes it: `{code, message, errors?}`, a 409 exactly `{code}` (HTTP-2); or the
 * compatibility route's envelope.
 */
export function errorAnswer(error: unknown, style: ErrorStyle, requestId: string): Answer {
  const { code, message, errors, headers } = error instanceof HttpError ? error : unexpected(error, requestId);
  const { status } = HTTP_ERRORS[code];
  if (style === 'envelope') return envelope(status, code, message, errors ? { errors } : {}, headers);
  if (status === 409) return json(status, { code } satisfies ConflictJson, headers);
  return json(status, { code, message, ...(errors && { errors }) } satisfies ErrorJson, headers);
}

/** An error of the compatibility route. */
export function envelope(
  status: number,
  code: string,
  message: string,
  details: Record<string, unknown>,
  headers: Record<string, string>,
): Answer {
  return json(status, { error: { code, message, details } } satisfies EnvelopeJson, headers);
}

/** Nothing of the cause is told, but whether it is worth trying again soon (HTTP-15). */
function unexpected(error: unknown, requestId: string): HttpError {
  if (isUnreachable(error)) return new HttpError('unavailable', 'the database cannot be reached');
  return new HttpError('internal_error', `unexpected failure, request ${requestId}`);
}

/** 400 with where it is wrong. */
export function invalid(errors: FieldError[]): HttpError {
  return new HttpError('validation_error', undefined, errors);
}

/** 400 for one value. Give `value` only when it is not secret. */
export function invalidField(path: string, expected: string, value?: unknown): HttpError {
  return invalid([{ path, expected, ...(value !== undefined && { value }) }]);
}
