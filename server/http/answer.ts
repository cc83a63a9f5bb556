import { type FieldError, HTTP_ERRORS, HttpError } from '../../storage/errors.js';
import { isUnreachable } from '../../storage/liveness.js';

/** What a request ends with. The body is JSON text, made once; null with 204. */
export interface Answer {
  status: number;
  body: string | null;
  headers?: Record<string, string>;
}

export function json(status: number, value: unknown, headers?: Record<string, string>): Answer {
  return { status, body: JSON.stringify(value), ...(headers && { headers }) };
}

export const noContent: Answer = { status: 204, body: null };

/** How the errors of a route look: the specification knows two ways. */
export type ErrorStyle = 'plain' | 'envelope';

/**
 * An error as its route writes it: `{code, message, errors?}`, a 409 exactly `{code}` (decision H2); or the
 * compatibility route's `{error: {code, message, details}}`.
 */
export function errorAnswer(error: unknown, style: ErrorStyle, requestId: string): Answer {
  const known = error instanceof HttpError ? error : unexpected(error, requestId);
  const { code, message, errors, headers } = known;
  const details = error instanceof EnvelopeError ? error.details : errors ? { errors } : {};
  const status = error instanceof EnvelopeError ? error.envelopeStatus : HTTP_ERRORS[code];
  if (style === 'envelope') {
    const name = error instanceof EnvelopeError ? error.envelopeCode : code;
    return json(status, { error: { code: name, message, details } }, headers);
  }
  return json(status, status === 409 ? { code } : { code, message, ...(errors && { errors }) }, headers);
}

/** Nothing of the cause is told, but whether it is worth trying again soon (decision H15). */
function unexpected(error: unknown, requestId: string): HttpError {
  if (isUnreachable(error))
    return new HttpError('unavailable', 'the database cannot be reached', undefined, { 'Retry-After': '1' });
  return new HttpError('internal_error', `unexpected failure, request ${requestId}`);
}

/** An error that only the envelope can say: another status or code than the table of errors has, and details. */
export class EnvelopeError extends HttpError {
  constructor(
    readonly envelopeStatus: 400 | 409 | 423 | 424,
    readonly envelopeCode: string,
    message: string,
    readonly details: Record<string, unknown>,
    headers: Record<string, string>,
  ) {
    super('internal_error', message, undefined, headers);
  }
}

/** 400 with where it is wrong. */
export function invalid(errors: FieldError[]): HttpError {
  return new HttpError('validation_error', 'the request is not valid', errors);
}

/** 400 for one value. Give `value` only when it is not secret. */
export function invalidField(path: string, expected: string, value?: unknown): HttpError {
  return invalid([{ path, expected, ...(value !== undefined && { value }) }]);
}
