import {
  HTTP_ERRORS,
  type HttpErrorCode,
  headersOf,
  OPERATION_ERRORS,
  type OperationErrorCode,
} from './error-codes.js';

/* Errors are data: a code and details cross threads, classes do not. The codes stand in `error-codes.ts`. */

/** A refusal on its way to an HTTP answer. `errors` carries the fields of a 400; `headers` go out with the answer. */
export class HttpError extends Error {
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    readonly code: HttpErrorCode,
    message: string = HTTP_ERRORS[code].message,
    readonly errors?: FieldError[],
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
    this.headers = { ...headersOf(code), ...headers };
  }

  get status(): number {
    return HTTP_ERRORS[this.code].status;
  }
}

/** A place where a request is wrong. */
export interface FieldError {
  /** Path of the value, such as `body.region`. */
  path: string;
  /** What was expected there. */
  expected: string;
  /** The value, when it is short and neither secret nor of an unknown field. */
  value?: unknown;
}

/** The place alone: values of inputs are sealed at rest, and what tells of an error is not (STO-1). */
export const withoutValue = ({ path, expected }: FieldError): FieldError => ({ path, expected });

/** What ends an operation as `failed`; plain data, so that it crosses threads whole. */
export interface OperationFailure {
  code: OperationErrorCode;
  details?: Record<string, unknown>;
}

/** Thrown inside an execution to end it as `failed` with this code. */
export class OperationError extends Error {
  constructor(
    readonly code: OperationErrorCode,
    readonly details: Record<string, unknown> = {},
  ) {
    super(code);
  }
}

/** `error_details` as it is stored: the details and, always, `retryable` (OPS-8). */
export function failureDetails({ code, details }: OperationFailure): Record<string, unknown> {
  const { retryable } = OPERATION_ERRORS[code];
  const status = code === 'upstream_error' ? details?.upstream_status : undefined;
  return { retryable: typeof status === 'number' ? mayHelp(status) : retryable, ...details };
}

/** Whether asking again can help where the provider answered so: it was busy, in trouble, or of two minds; not where it refused what was asked. */
function mayHelp(status: number): boolean {
  if (status >= 500) return status !== 501 && status !== 505;
  return status < 400 || [408, 409, 423, 425, 429].includes(status);
}
