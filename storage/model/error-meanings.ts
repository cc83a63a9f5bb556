import type { HttpErrorCode, OperationErrorCode } from './errors.js';

/** What each code means and what its reader can do, in a sentence of the reference. The types hold that no code lacks one. */

/** Of codes that a request is refused with. */
export const REFUSAL_MEANINGS: Record<HttpErrorCode, string> = {
  invalid_json: 'The body is not a JSON object in UTF-8.',
  validation_error: 'The request is not valid: `errors` names each place that is wrong.',
  unauthorized: 'The key is missing, unknown, expired or revoked, or the session has ended.',
  gateway_unauthorized: 'The service is hosted, and the gateway access headers are missing or wrong.',
  user_agent_required: 'The service is hosted, and wants a named `User-Agent`.',
  network_not_allowed: 'The key may be used from some networks only, and the request comes from elsewhere.',
  cross_site:
    'The request has a session of the console for a credential, and did not come from the console: it lacks `Console-Request: 1`, or names another origin.',
  forbidden: 'The key lacks a scope that the request needs; the message names it.',
  not_found: 'The id is unknown, or belongs to another workspace.',
  method_not_allowed: 'The path takes other methods only; `Allow` names them.',
  connection_conflict: 'The account has a connection in this workspace already.',
  connection_busy: 'An operation of the connection runs or waits for its user; try again when it has ended.',
  connection_not_ready: 'The connection is not `ready`; submit `social.login` first.',
  idempotency_conflict: 'The idempotency key was used for another request; take a new one.',
  challenge_not_accepting_code:
    'The challenge is not the current one, has expired, was answered already or takes no code.',
  not_outcome_unknown: 'The outcome of the operation is known, so there is nothing to look for.',
  delivery_not_failed: 'Only a failed delivery can be replayed.',
  subscription_inactive: 'The subscription is not active; activate it first.',
  callback_not_verified: 'The callback address did not answer the challenge that proves it.',
  too_many_connections: 'The workspace has as many connections as it may; `GET /v1/limits` shows how many.',
  too_many_subscriptions: 'The connection, its workspace or the destination has as many subscriptions as it may.',
  storage_full:
    'Operations and audit log of the workspace take as much room as they may; `GET /v1/limits` shows how much.',
  too_many_secrets: 'As many earlier secrets of the subscription sign as may; wait until one has run out.',
  no_connection:
    'The subscription is of all connections of a workspace that has none: a test event is of a connection. Create one and ask again.',
  too_many_tests: 'As many test events of the subscription are under way as may; ask again when one has ended.',
  key_ending:
    'The key ends before the overlap, as one that was rotated does, and its successor would end with it; rotate that one, or make a key.',
  links_unavailable: 'The service does not know its own public address: its operator sets `PUBLIC_URL`.',
  link_used:
    'The link was used from another page, has signed the account in, or was tried too often; ask for a new one.',
  not_simulated: 'The connection is a real one, and its events come from the provider alone.',
  erased: 'The input of the operation was erased by its age, as the installation is set to.',
  body_too_large: 'The body is larger than this route takes.',
  unsupported_media_type: 'The body is of another type than `application/json`.',
  rate_limited:
    'The key, or its workspace over all nodes, sends faster than it may; wait as long as `Retry-After` says.',
  internal_error: 'The service failed; the message names the request for its operator.',
  encryption_key_unavailable: 'The service lacks the encryption key that this needs; its operator has to give it one.',
  overloaded: 'Too much waits already, and nothing was stored; wait as long as `Retry-After` says.',
  unavailable: 'The service is shutting down or cannot reach its database; wait as long as `Retry-After` says.',
};

/** What is known of a code that an operation fails with. */
interface FailureMeaning {
  meaning: string;
  /** What its `error_details` may hold beside `retryable`. */
  details?: Readonly<Record<string, unknown>>;
}

/** Of codes that an operation fails with. */
export const FAILURE_MEANINGS: Record<OperationErrorCode, FailureMeaning> = {
  validation_error: {
    meaning: 'The input turned out not to be valid when its turn came; `errors` names each place.',
    details: { errors: [{ path: 'input.distance', expected: 'locations or zip_codes beside it' }] },
  },
  connection_not_ready: {
    meaning: 'The connection was not `ready` when the turn of the operation came; submit `social.login` first.',
    details: { health: 'needs_login' },
  },
  recruiter_not_ready: {
    meaning: 'No recruiter contract is verified in this session; submit `social.recruiter.switch` first.',
    details: { health: 'not_verified' },
  },
  authentication_failed: {
    meaning: 'The provider refused the credentials or ended the session; the connection is `needs_login`.',
    details: { reason: 'bad_credentials' },
  },
  identity_mismatch: {
    meaning:
      'The session belongs to another account. After a health check the connection is `invalid`; a login changes nothing.',
  },
  challenge_expired: { meaning: 'No code came in time, or nobody solved what takes no code.' },
  challenge_failed: { meaning: 'Every code that was given was wrong.', details: { kind: 'sms' } },
  challenge_unsupported: { meaning: 'The provider asks for something that the service cannot pass on to the user.' },
  regional_proxy_unavailable: { meaning: 'The region of the connection has no proxy.', details: { region: 'DE' } },
  proxy_error: { meaning: 'The regional proxy could not be used.', details: { reason: 'unreachable' } },
  browser_unavailable: { meaning: 'No browser could take the operation, or it was lost.', details: { reason: 'lost' } },
  upstream_error: {
    meaning: 'The provider failed or could not be reached; `upstream_status` is what it answered.',
    details: { upstream_status: 502 },
  },
  parsing_error: {
    meaning: 'The provider answered in a form that the service does not know.',
    details: { what: 'answer' },
  },
  provider_not_found: {
    meaning: 'The provider does not know what the input names.',
    details: { upstream_status: 404 },
  },
  provider_rate_limited: {
    meaning: 'The provider limits the rate of this account.',
    details: { upstream_status: 429, upstream_code: 'WEEKLY_INVITATIONS', retry_after_seconds: 60 },
  },
  provider_restricted: { meaning: 'The provider does not allow this account to do it; the connection is `invalid`.' },
  storage_full: {
    meaning:
      'Operations and audit log of the workspace took as much room as they may while the file was stored; `GET /v1/limits` shows how much.',
  },
  upstream_timeout: { meaning: 'The provider did not answer in time.' },
  session_fenced: { meaning: 'The session was replaced or given up while the operation ran.' },
  worker_lost: {
    meaning: 'The operation lost its node while it waited for its user, or five times while it ran.',
  },
  deadline_exceeded: { meaning: 'The operation ran for longer than five minutes.' },
  internal_error: { meaning: 'The service failed.', details: { reason: 'database_unavailable' } },
};
