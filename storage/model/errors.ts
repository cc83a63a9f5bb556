/**
 * Every code the service answers with: its HTTP status, or its place as an operation's `error_code`
 * (contract: "Errors"; OPS-8); what each means stands in `error-meanings.ts`. Errors are data: a code and details cross threads,
 * classes do not.
 */

/** What is known of a code that a request is refused with. */
interface HttpErrorRecord {
  status: number;
  /** True when the same request can succeed later although its client changes nothing. */
  retryable: boolean;
  /** The answer's message, unless the place that refuses knows a more exact one. */
  message: string;
  /** Headers that every answer with this code carries; the place that refuses may give other values. */
  headers?: Partial<Record<'Retry-After' | 'WWW-Authenticate', string>>;
}

const SOON = { 'Retry-After': '1' } as const;

/** Codes of HTTP answers. A 409 outside the compatibility route answers exactly `{code}`. */
export const HTTP_ERRORS = {
  invalid_json: { status: 400, retryable: false, message: 'the body is not JSON' },
  validation_error: { status: 400, retryable: false, message: 'the request is not valid' },
  unauthorized: {
    status: 401,
    retryable: false,
    message: 'a valid workspace key is required',
    headers: { 'WWW-Authenticate': 'Bearer' },
  },
  gateway_unauthorized: { status: 401, retryable: false, message: 'gateway access headers are required' },
  user_agent_required: { status: 403, retryable: false, message: 'a named User-Agent is required' },
  network_not_allowed: { status: 403, retryable: false, message: 'the key may not be used from this address' },
  cross_site: { status: 403, retryable: false, message: 'a session is used by requests of the console alone' },
  forbidden: { status: 403, retryable: false, message: 'the key lacks a scope' },
  not_found: { status: 404, retryable: false, message: 'there is no such resource' },
  method_not_allowed: { status: 405, retryable: false, message: 'this route does not take this method' },
  connection_conflict: { status: 409, retryable: false, message: 'the account has a connection already' },
  connection_busy: { status: 409, retryable: true, message: 'an operation of the connection runs or waits' },
  connection_not_ready: { status: 409, retryable: false, message: 'the connection is not ready' },
  idempotency_conflict: { status: 409, retryable: false, message: 'the key belongs to another request' },
  challenge_not_accepting_code: { status: 409, retryable: false, message: 'the challenge takes no code now' },
  not_outcome_unknown: { status: 409, retryable: false, message: 'the outcome of the operation is known' },
  delivery_not_failed: { status: 409, retryable: false, message: 'the delivery has not failed' },
  subscription_inactive: { status: 409, retryable: false, message: 'the subscription is not active' },
  callback_not_verified: { status: 409, retryable: false, message: 'the callback has not answered the challenge' },
  too_many_connections: {
    status: 409,
    retryable: false,
    message: 'the workspace has as many connections as it may',
  },
  too_many_subscriptions: {
    status: 409,
    retryable: false,
    message: 'the connection, its workspace or the destination has as many subscriptions as it may',
  },
  storage_full: { status: 409, retryable: false, message: 'the workspace stores as much as it may' },
  too_many_secrets: {
    status: 409,
    retryable: false,
    message: 'as many earlier secrets of the subscription sign as may',
  },
  too_many_tests: {
    status: 409,
    retryable: true,
    message: 'as many test events of the subscription are under way as may',
  },
  no_connection: {
    status: 409,
    retryable: false,
    message: 'the workspace has no connection that a test event could be of',
  },
  key_ending: { status: 409, retryable: false, message: 'the key ends before the overlap' },
  links_unavailable: { status: 409, retryable: false, message: 'the service has no public address' },
  link_used: { status: 409, retryable: false, message: 'the link was used' },
  not_simulated: { status: 409, retryable: false, message: 'the connection is not a simulated one' },
  erased: { status: 410, retryable: false, message: 'it was erased by its age' },
  body_too_large: { status: 413, retryable: false, message: 'the body is larger than this route takes' },
  unsupported_media_type: { status: 415, retryable: false, message: 'bodies are application/json' },
  rate_limited: { status: 429, retryable: true, message: 'too many requests with this key', headers: SOON },
  internal_error: { status: 500, retryable: true, message: 'unexpected failure' },
  encryption_key_unavailable: { status: 503, retryable: false, message: 'there is no encryption key' },
  overloaded: { status: 503, retryable: true, message: 'too much waits already', headers: SOON },
  unavailable: { status: 503, retryable: true, message: 'the service is unavailable', headers: SOON },
} as const satisfies Record<string, HttpErrorRecord>;
export type HttpErrorCode = keyof typeof HTTP_ERRORS;

/** What is known of a code that an operation fails with. */
interface OperationErrorRecord {
  /** True when the same submission, under a new key, can be expected to help. */
  retryable: boolean;
}

/** Codes of failed operations: their `error_code`. */
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
  storage_full: { retryable: false },
  upstream_timeout: { retryable: true },
  session_fenced: { retryable: true },
  worker_lost: { retryable: true },
  deadline_exceeded: { retryable: true },
  internal_error: { retryable: true },
} as const satisfies Record<string, OperationErrorRecord>;
export type OperationErrorCode = keyof typeof OPERATION_ERRORS;

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
    const { headers: usual }: HttpErrorRecord = HTTP_ERRORS[code];
    this.headers = { ...usual, ...headers };
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
