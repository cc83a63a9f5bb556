import { HTTP_ERRORS, type HttpErrorCode } from '../../storage/model/error-codes.js';
import { type FieldError, HttpError } from '../../storage/model/errors.js';
import { shownPath } from '../../storage/model/field-errors.js';
import { isRefusedForNow, isUnreachable } from '../../storage/postgres/liveness.js';
import { KeyUnknown } from '../../storage/secrets/encryption.js';
import { LIMITS } from './limits.js';

/** The answer to a request. Its body is text, bytes that many answers share, or made while the client takes it; null with 204 and 304. */
export interface Answer {
  status: number;
  body: string | Buffer | MadeBody | null;
  headers?: Record<string, string>;
  /** Media type of the body; JSON when it is absent. */
  contentType?: string;
  /** Of an error, for the log. */
  errorCode?: string;
}

/** A body too large to be held in memory. */
export interface MadeBody {
  /** Its length; null where only its end shows it: then it is sent in chunks, and `filler` may stand between pieces. */
  bytes: number | null;
  /** Nobody answers for who takes it: its bytes count among those that are being sent, and who takes too little of them is cut. */
  hurried?: true;
  /** What its readers pass over; a space unless it is given, as in JSON. */
  filler?: string;
  /** Is awaited before each piece but the first, and is no work of the request; absent: the next piece is made at once. */
  pause?(): Promise<void>;
  /** Together `bytes` long. A piece is made when the client has taken the one before; by an empty one it is noticed that it went away. */
  pieces(): AsyncIterable<Buffer>;
}

/** True for a body that is written piece by piece. */
export function isMade(body: Answer['body']): body is MadeBody {
  return body !== null && typeof body !== 'string' && !Buffer.isBuffer(body);
}

export function json(status: number, value: unknown, headers?: Record<string, string>): Answer {
  return { status, body: JSON.stringify(value), ...(headers && { headers }) };
}

export const noContent: Answer = { status: 204, body: null };

/** The two forms of a route's errors: `{code, message}` or the compatibility route's envelope. */
export type ErrorStyle = 'plain' | 'envelope';

/** Why a request was refused (HTTP-2). */
export interface ErrorJson {
  /** What went wrong, for programs. */
  code: HttpErrorCode;
  /** What went wrong, for people; its words may change. */
  message: string;
  /** Where the request is wrong: the first 50 places. */
  errors?: FieldError[];
  /** How many places more it is wrong in; absent when `errors` has them all. */
  more_errors?: number;
}

/** Why a request cannot be done now: the code alone. */
export type ConflictJson = Pick<ErrorJson, 'code'>;

/** Why a request of the compatibility route was refused. */
export interface EnvelopeJson {
  /** The refusal. */
  error: {
    /** What went wrong, for programs: a code of the service, of a failed operation, or why it ended otherwise. */
    code: string;
    /** What went wrong, for people; its words may change. */
    message: string;
    /** What is known beside the code, such as `operation_id` and `idempotency_key`; empty when there is nothing. */
    details: Record<string, unknown>;
  };
}

/** A request of the compatibility route went wrong once its idempotency key was known: its client repeats it with that key. */
export class KeyedError extends Error {
  constructor(
    override readonly cause: unknown,
    readonly key: string,
  ) {
    super('a request with a key failed');
  }
}

/**
 * An error as its route writes it: `{code, message, errors?}`, a 409 exactly `{code}` (HTTP-2); or the
 * compatibility route's envelope.
 */
export function errorAnswer(error: unknown, style: ErrorStyle, requestId: string): Answer {
  if (error instanceof KeyedError) return keyedAnswer(error, requestId);
  const { code, message, errors, headers } = error instanceof HttpError ? error : unexpected(error, requestId);
  const { status } = HTTP_ERRORS[code];
  if (style === 'envelope') return envelope(status, code, message, shown(errors), headers);
  const body = status === 409 ? ({ code } satisfies ConflictJson) : { code, message, ...shown(errors) };
  return { ...json(status, body satisfies ConflictJson | ErrorJson, headers), errorCode: code };
}

/** The first of the wrong places, and how many there are besides: an answer must not outgrow what it answers. */
function shown(errors: FieldError[] | undefined): Pick<ErrorJson, 'errors' | 'more_errors'> {
  if (!errors) return {};
  const more = errors.length - LIMITS.shown_errors;
  return more > 0 ? { errors: errors.slice(0, LIMITS.shown_errors), more_errors: more } : { errors };
}

/** The same in the envelope, with the key in a header and in the details (COMPAT-1). */
function keyedAnswer({ cause, key }: KeyedError, requestId: string): Answer {
  const { code, message, errors, headers } = cause instanceof HttpError ? cause : unexpected(cause, requestId);
  const details = { ...shown(errors), idempotency_key: key };
  return envelope(HTTP_ERRORS[code].status, code, message, details, { ...headers, 'Idempotency-Key': key });
}

/** An error of the compatibility route. */
export function envelope(
  status: number,
  code: string,
  message: string,
  details: Record<string, unknown>,
  headers: Record<string, string>,
): Answer {
  const body = { error: { code, message, details } } satisfies EnvelopeJson;
  return { ...json(status, body, headers), errorCode: code };
}

/** True for a failure of the database that passes by itself: away, too slow for now, or locked for too long. */
export function isPassing(error: unknown): boolean {
  return isUnreachable(error) || isRefusedForNow(error);
}

/** Hides the cause; the code shows whether trying again soon can help (HTTP-15). */
function unexpected(error: unknown, requestId: string): HttpError {
  if (isUnreachable(error)) return new HttpError('unavailable', 'database: it cannot be reached');
  if (isRefusedForNow(error)) return new HttpError('unavailable', 'the database does not answer in time');
  if (error instanceof KeyUnknown) return new HttpError('encryption_key_unavailable', error.message);
  return new HttpError('internal_error', `unexpected failure, request ${requestId}`);
}

/** 400 with the wrong fields. */
export function invalid(errors: FieldError[]): HttpError {
  return new HttpError('validation_error', undefined, errors);
}

/** 400 for one value. `value` must not be secret. */
export function invalidField(path: string, expected: string, value?: unknown): HttpError {
  return invalid([{ path: shownPath(path), expected, ...(value !== undefined && { value }) }]);
}
