/**
 * Every code the service answers with: its HTTP status, or its place as an operation's `error_code`
 * (contract: "Errors"; OPS-8). Errors are data: a code and details cross threads, classes do not.
 */

/** Codes of HTTP answers. A 409 outside the compatibility route answers exactly `{code}`. */
export const HTTP_ERRORS = {
  invalid_json: 400,
  validation_error: 400,
  unauthorized: 401,
  gateway_unauthorized: 401,
  user_agent_required: 403,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  connection_conflict: 409,
  connection_busy: 409,
  connection_not_ready: 409,
  idempotency_conflict: 409,
  challenge_not_accepting_code: 409,
  not_outcome_unknown: 409,
  delivery_not_failed: 409,
  subscription_inactive: 409,
  not_simulated: 409,
  body_too_large: 413,
  unsupported_media_type: 415,
  rate_limited: 429,
  internal_error: 500,
  encryption_key_unavailable: 503,
  overloaded: 503,
  unavailable: 503,
} as const;
export type HttpErrorCode = keyof typeof HTTP_ERRORS;

/** Codes of failed operations, and whether the same submission (under a new key) can be expected to help. */
export const OPERATION_ERRORS = {
  validation_error: { retryable: false },
  connection_not_ready: { retryable: false },
  recruiter_not_ready: { retryable: false },
  authentication_failed: { retryable: false },
  identity_mismatch: { retryable: false },
  challenge_expired: { retryable: true },
  challenge_failed: { retryable: true },
  challenge_unsupported: { retryable: false },
  regional_proxy_unavailable: { retryable: false },
  proxy_error: { retryable: true },
  browser_unavailable: { retryable: true },
  upstream_error: { retryable: true },
  parsing_error: { retryable: false },
  provider_not_found: { retryable: false },
  provider_rate_limited: { retryable: true },
  provider_restricted: { retryable: false },
  upstream_timeout: { retryable: true },
  session_fenced: { retryable: true },
  worker_lost: { retryable: true },
  deadline_exceeded: { retryable: true },
  internal_error: { retryable: true },
} as const satisfies Record<string, { retryable: boolean }>;
export type OperationErrorCode = keyof typeof OPERATION_ERRORS;

/** A refusal on its way to an HTTP answer. `errors` carries field detail of a 400. */
export class HttpError extends Error {
  constructor(
    readonly code: HttpErrorCode,
    message: string = code,
    readonly errors?: FieldError[],
    readonly headers: Record<string, string> = {},
  ) {
    super(message);
  }
  get status(): number {
    return HTTP_ERRORS[this.code];
  }
}

/** Where a value is wrong: `$input.body.region`-like path, what was expected, and the value unless it is secret. */
export interface FieldError {
  path: string;
  expected: string;
  value?: unknown;
}

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
export function failureDetails(failure: OperationFailure): Record<string, unknown> {
  return { retryable: OPERATION_ERRORS[failure.code].retryable, ...failure.details };
}
