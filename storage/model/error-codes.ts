/**
 * Every code that the service answers with, one record each: its HTTP status, or its place as an operation's `error_code`, whether asking again can
 * help, and what it means (contract: "Errors"; OPS-8). The contract, the reference and the tables of settings are made from them.
 */

/** What is known of a code that a request is refused with. */
interface HttpErrorRecord {
  status: number;
  /** True when the same request can succeed later although its client changes nothing. */
  retryable: boolean;
  /** The answer's message, unless the place that refuses knows a more exact one. */
  message: string;
  /** What it means and what its reader can do, in a sentence of the reference. */
  meaning: string;
  /** Headers that every answer with this code carries; the place that refuses may give other values. */
  headers?: Partial<Record<'Retry-After' | 'WWW-Authenticate', string>>;
}

const SOON = { 'Retry-After': '1' } as const;

/** Codes of HTTP answers. A 409 outside the compatibility route answers exactly `{code}`. */
export const HTTP_ERRORS = {
  invalid_json: {
    status: 400,
    retryable: false,
    message: 'the body is not JSON',
    meaning: 'The body is not a JSON object in UTF-8.',
  },
  validation_error: {
    status: 400,
    retryable: false,
    message: 'the request is not valid',
    meaning: 'The request is not valid: `errors` names each place that is wrong.',
  },
  unauthorized: {
    status: 401,
    retryable: false,
    message: 'a valid workspace key is required',
    headers: { 'WWW-Authenticate': 'Bearer' },
    meaning: 'The key is missing, unknown, expired or revoked, or the session has ended.',
  },
  gateway_unauthorized: {
    status: 401,
    retryable: false,
    message: 'gateway access headers are required',
    meaning: 'The service is hosted, and the gateway access headers are missing or wrong.',
  },
  user_agent_required: {
    status: 403,
    retryable: false,
    message: 'a named User-Agent is required',
    meaning: 'The service is hosted, and wants a named `User-Agent`.',
  },
  network_not_allowed: {
    status: 403,
    retryable: false,
    message: 'the key may not be used from this address',
    meaning: 'The key may be used from some networks only, and the request comes from elsewhere.',
  },
  cross_site: {
    status: 403,
    retryable: false,
    message: 'a session is used by requests of the console alone',
    meaning:
      'The request has a session of the console for a credential, and did not come from the console: it lacks `Console-Request: 1`, or names another origin.',
  },
  forbidden: {
    status: 403,
    retryable: false,
    message: 'the key lacks a scope',
    meaning: 'The key lacks a scope that the request needs; the message names it.',
  },
  not_found: {
    status: 404,
    retryable: false,
    message: 'there is no such resource',
    meaning: 'The id is unknown, or belongs to another workspace.',
  },
  method_not_allowed: {
    status: 405,
    retryable: false,
    message: 'this route does not take this method',
    meaning: 'The path takes other methods only; `Allow` names them.',
  },
  connection_conflict: {
    status: 409,
    retryable: false,
    message: 'the account has a connection already',
    meaning: 'The account has a connection in this workspace already.',
  },
  connection_busy: {
    status: 409,
    retryable: true,
    message: 'an operation of the connection runs or waits',
    meaning: 'An operation of the connection runs or waits for its user; try again when it has ended.',
  },
  connection_not_ready: {
    status: 409,
    retryable: false,
    message: 'the connection is not ready',
    meaning: 'The connection is not `ready`; submit `social.login` first.',
  },
  idempotency_conflict: {
    status: 409,
    retryable: false,
    message: 'the key belongs to another request',
    meaning: 'The idempotency key was used for another request; take a new one.',
  },
  challenge_not_accepting_code: {
    status: 409,
    retryable: false,
    message: 'the challenge takes no code now',
    meaning: 'The challenge is not the current one, has expired, was answered already or takes no code.',
  },
  not_outcome_unknown: {
    status: 409,
    retryable: false,
    message: 'the outcome of the operation is known',
    meaning: 'The outcome of the operation is known, so there is nothing to look for.',
  },
  delivery_not_failed: {
    status: 409,
    retryable: false,
    message: 'the delivery has not failed',
    meaning: 'Only a failed delivery can be replayed.',
  },
  subscription_inactive: {
    status: 409,
    retryable: false,
    message: 'the subscription is not active',
    meaning: 'The subscription is not active; activate it first.',
  },
  callback_not_verified: {
    status: 409,
    retryable: false,
    message: 'the callback has not answered the challenge',
    meaning: 'The callback address did not answer the challenge that proves it.',
  },
  too_many_connections: {
    status: 409,
    retryable: false,
    message: 'the workspace has as many connections as it may',
    meaning: 'The workspace has as many connections as it may; `GET /v1/limits` shows how many.',
  },
  too_many_subscriptions: {
    status: 409,
    retryable: false,
    message: 'the connection, its workspace or the destination has as many subscriptions as it may',
    meaning: 'The connection, its workspace or the destination has as many subscriptions as it may.',
  },
  storage_full: {
    status: 409,
    retryable: false,
    message: 'the workspace stores as much as it may',
    meaning:
      'Operations and audit log of the workspace take as much room as they may; `GET /v1/limits` shows how much.',
  },
  too_many_secrets: {
    status: 409,
    retryable: false,
    message: 'as many earlier secrets of the subscription sign as may',
    meaning: 'As many earlier secrets of the subscription sign as may; wait until one has run out.',
  },
  too_many_tests: {
    status: 409,
    retryable: true,
    message: 'as many test events of the subscription are under way as may',
    meaning: 'As many test events of the subscription are under way as may; ask again when one has ended.',
  },
  no_connection: {
    status: 409,
    retryable: false,
    message: 'the workspace has no connection that a test event could be of',
    meaning:
      'The subscription is of all connections of a workspace that has none: a test event is of a connection. Create one and ask again.',
  },
  key_ending: {
    status: 409,
    retryable: false,
    message: 'the key ends before the overlap',
    meaning:
      'The key ends before the overlap, as one that was rotated does, and its successor would end with it; rotate that one, or make a key.',
  },
  links_unavailable: {
    status: 409,
    retryable: false,
    message: 'the service has no public address',
    meaning: 'The service does not know its own public address: its operator sets `PUBLIC_URL`.',
  },
  link_used: {
    status: 409,
    retryable: false,
    message: 'the link was used',
    meaning:
      'The link was used from another page, has signed the account in, or was tried too often; ask for a new one.',
  },
  not_simulated: {
    status: 409,
    retryable: false,
    message: 'the connection is not a simulated one',
    meaning: 'The connection is a real one, and its events come from the provider alone.',
  },
  erased: {
    status: 410,
    retryable: false,
    message: 'it was erased by its age',
    meaning: 'The input of the operation was erased by its age, as the installation is set to.',
  },
  body_too_large: {
    status: 413,
    retryable: false,
    message: 'the body is larger than this route takes',
    meaning: 'The body is larger than this route takes.',
  },
  unsupported_media_type: {
    status: 415,
    retryable: false,
    message: 'bodies are application/json',
    meaning: 'The body is of another type than `application/json`.',
  },
  rate_limited: {
    status: 429,
    retryable: true,
    message: 'too many requests with this key',
    headers: SOON,
    meaning: 'The key, or its workspace over all nodes, sends faster than it may; wait as long as `Retry-After` says.',
  },
  internal_error: {
    status: 500,
    retryable: true,
    message: 'unexpected failure',
    meaning: 'The service failed; the message names the request for its operator.',
  },
  encryption_key_unavailable: {
    status: 503,
    retryable: false,
    message: 'there is no encryption key',
    meaning: 'The service lacks the encryption key that this needs; its operator has to give it one.',
  },
  overloaded: {
    status: 503,
    retryable: true,
    message: 'too much waits already',
    headers: SOON,
    meaning: 'Too much waits already, and nothing was stored; wait as long as `Retry-After` says.',
  },
  unavailable: {
    status: 503,
    retryable: true,
    message: 'the service is unavailable',
    headers: SOON,
    meaning: 'The service is shutting down or cannot reach its database; wait as long as `Retry-After` says.',
  },
} as const satisfies Record<string, HttpErrorRecord>;
export type HttpErrorCode = keyof typeof HTTP_ERRORS;

/** What is known of a code that an operation fails with. */
interface OperationErrorRecord {
  /** True when the same submission, under a new key, can be expected to help. */
  retryable: boolean;
  /** What it means and what its reader can do, in a sentence of the reference. */
  meaning: string;
  /** What its `error_details` may hold beside `retryable`, as an example. */
  details?: Readonly<Record<string, unknown>>;
}

/** Codes of failed operations: their `error_code`. */
export const OPERATION_ERRORS = {
  validation_error: {
    retryable: false,
    meaning: 'The input turned out not to be valid when its turn came; `errors` names each place.',
    details: { errors: [{ path: 'input.distance', expected: 'locations or zip_codes beside it' }] },
  },
  connection_not_ready: {
    retryable: false,
    meaning: 'The connection was not `ready` when the turn of the operation came; submit `social.login` first.',
    details: { health: 'needs_login' },
  },
  recruiter_not_ready: {
    retryable: false,
    meaning: 'No recruiter contract is verified in this session; submit `social.recruiter.switch` first.',
    details: { health: 'not_verified' },
  },
  authentication_failed: {
    retryable: false,
    meaning: 'The provider refused the credentials or ended the session; the connection is `needs_login`.',
    details: { reason: 'bad_credentials' },
  },
  identity_mismatch: {
    retryable: false,
    meaning:
      'The session belongs to another account. After a health check the connection is `invalid`; a login changes nothing.',
  },
  challenge_expired: { retryable: true, meaning: 'No code came in time, or nobody solved what takes no code.' },
  challenge_failed: { retryable: true, meaning: 'Every code that was given was wrong.', details: { kind: 'sms' } },
  challenge_unsupported: {
    retryable: false,
    meaning: 'The provider asks for something that the service cannot pass on to the user.',
  },
  regional_proxy_unavailable: {
    retryable: false,
    meaning: 'The region of the connection has no proxy.',
    details: { region: 'DE' },
  },
  proxy_error: {
    retryable: true,
    meaning: 'The regional proxy could not be used.',
    details: { reason: 'unreachable' },
  },
  browser_unavailable: {
    retryable: true,
    meaning: 'No browser could take the operation, or it was lost.',
    details: { reason: 'lost' },
  },
  upstream_error: {
    retryable: true,
    meaning: 'The provider failed or could not be reached; `upstream_status` is what it answered.',
    details: { upstream_status: 502 },
  },
  parsing_error: {
    retryable: false,
    meaning: 'The provider answered in a form that the service does not know.',
    details: { what: 'answer' },
  },
  provider_not_found: {
    retryable: false,
    meaning: 'The provider does not know what the input names.',
    details: { upstream_status: 404 },
  },
  provider_rate_limited: {
    retryable: true,
    meaning: 'The provider limits the rate of this account.',
    details: { upstream_status: 429, upstream_code: 'WEEKLY_INVITATIONS', retry_after_seconds: 60 },
  },
  provider_restricted: {
    retryable: false,
    meaning: 'The provider does not allow this account to do it; the connection is `invalid`.',
  },
  storage_full: {
    retryable: false,
    meaning:
      'Operations and audit log of the workspace took as much room as they may while the file was stored; `GET /v1/limits` shows how much.',
  },
  upstream_timeout: { retryable: true, meaning: 'The provider did not answer in time.' },
  session_fenced: { retryable: true, meaning: 'The session was replaced or given up while the operation ran.' },
  worker_lost: {
    retryable: true,
    meaning: 'The operation lost its node while it waited for its user, or five times while it ran.',
  },
  deadline_exceeded: { retryable: true, meaning: 'The operation ran for longer than five minutes.' },
  internal_error: { retryable: true, meaning: 'The service failed.', details: { reason: 'database_unavailable' } },
} as const satisfies Record<string, OperationErrorRecord>;
export type OperationErrorCode = keyof typeof OPERATION_ERRORS;

/** The headers that every answer with this code carries. */
export const headersOf = (code: HttpErrorCode): HttpErrorRecord['headers'] => {
  const record: HttpErrorRecord = HTTP_ERRORS[code];
  return record.headers;
};

/** An example of what the `error_details` of this code hold beside `retryable`. */
export const detailsOf = (code: OperationErrorCode): OperationErrorRecord['details'] => {
  const record: OperationErrorRecord = OPERATION_ERRORS[code];
  return record.details;
};
