import type { OperationErrorCode } from '../storage/model/error-codes.js';
import type { SessionEffects } from './messages.js';

/** What ends a run without a result. Details reach the caller of the API: they never hold text of a page or an error. */
export class RunFailure extends Error {
  /** Browser, proxy or network trouble: a read may be tried again (OPS-4). */
  readonly transient: boolean;
  /**
   * The provider's own refusal, or certainty that nothing reached it. Any other failure past the write boundary
   * leaves open whether the provider acted.
   */
  readonly definite: boolean;
  /** Proof that the request of a write did not begin to leave. It is `definite`, too. */
  readonly unsent: boolean;
  readonly effects: SessionEffects | undefined;

  constructor(
    readonly code: OperationErrorCode | 'canceled',
    readonly details: Record<string, unknown> = {},
    how: { transient?: boolean; definite?: boolean; unsent?: boolean; effects?: SessionEffects } = {},
  ) {
    super(code);
    this.transient = how.transient ?? false;
    this.unsent = how.unsent ?? false;
    this.definite = how.definite ?? this.unsent;
    this.effects = how.effects;
  }
}

/** The browser is gone, hung, not available or has no room; the same run can succeed on another attempt. */
export function browserUnavailable(reason: string, transient = true): RunFailure {
  return new RunFailure('browser_unavailable', { reason }, { transient });
}

/** The permission to send ran out before the request left: another node may have settled the operation meanwhile. */
export function permissionRanOut(): RunFailure {
  return new RunFailure('session_fenced', { reason: 'permission_ran_out' }, { transient: true, unsent: true });
}

/** The actor did not answer in time; nothing has left, and its own database is the likely cause: the run may be tried again. */
export function unanswered(): RunFailure {
  return new RunFailure('session_fenced', { reason: 'unanswered' }, { transient: true, unsent: true });
}

/**
 * The session is not valid any more; the connection needs a login (CONN-8). `reason`: how the site shows it, where that is not the sign-in page. A
 * page in place of an answer is not `definite`: the site may have acted before it sent that.
 */
export function loggedOut(reason?: 'checkpoint' | 'endless_redirects', definite = true): RunFailure {
  const details = reason === undefined ? {} : { reason };
  return new RunFailure('authentication_failed', details, { definite, effects: { health: 'needs_login' } });
}

/** The provider restricts the account; only the account's owner can change that (CONN-8). */
export function restricted(definite = true): RunFailure {
  return new RunFailure('provider_restricted', {}, { definite, effects: { health: 'invalid' } });
}

/** The provider's answer, page or frame does not match the description of the site. Never read as an empty success. */
export function unexpectedAnswer(what: string): RunFailure {
  return new RunFailure('parsing_error', { what });
}

/** Whether an answer with this status proves that nothing was done, where the site's description does not say. */
const REFUSALS: readonly number[] = [400, 401, 403, 404, 405, 409, 413, 415, 422, 429];

/**
 * The failure that an HTTP status of the provider means, or null below 400. `retryAfter` is its header, `code` what it calls its refusal. Only one
 * of `refusals` is `definite`: behind any other a server may have acted all the same (OPS-21).
 */
export function refusal(
  status: number,
  {
    retryAfter,
    code,
    refusals = REFUSALS,
  }: { retryAfter?: string | undefined; code?: string | undefined; refusals?: readonly number[] | undefined } = {},
): RunFailure | null {
  if (status < 400) return null;
  const how = { definite: refusals.includes(status) };
  if (status === 401) return loggedOut();
  const details = { upstream_status: status, ...upstreamCode(code) };
  if (status === 404) return new RunFailure('provider_not_found', details, how);
  const kind = status === 429 ? 'provider_rate_limited' : 'upstream_error';
  return new RunFailure(kind, { ...details, ...retryAfterSeconds(retryAfter) }, how);
}

/** The provider's own word for a refusal, where it is a word: details never hold text. */
export function upstreamCode(code: string | undefined): { upstream_code?: string } {
  return code !== undefined && /^[\w.:-]{1,64}$/.test(code) ? { upstream_code: code } : {};
}

/** Seconds, or a date (RFC 9110 10.2.3): one that has passed is at once. */
function retryAfterSeconds(header = ''): { retry_after_seconds?: number } {
  if (/^\d{1,9}$/.test(header)) return { retry_after_seconds: Number(header) };
  const at_ms = /^[A-Z][a-z]{2,8},? .*\d\d:\d\d:\d\d/.test(header) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(at_ms) ? {} : { retry_after_seconds: Math.max(0, Math.ceil((at_ms - Date.now()) / 1000)) };
}

/**
 * Network errors as Chromium and Node name them: the first pattern found in an error's text decides. Both connect to the
 * proxy only, so a connection that was never made is always the proxy's, and then nothing has reached the provider; one
 * that was refused over its certificate carried no request. Any other broken connection may have carried one.
 */
const NETWORK_ERRORS: [pattern: RegExp, failure: () => RunFailure][] = [
  [
    /ERR_PROXY|ERR_TUNNEL_CONNECTION_FAILED|ERR_INVALID_AUTH_CREDENTIALS|ERR_NO_SUPPORTED_PROXIES|ERR_SOCKS|ERR_MANDATORY_PROXY/,
    () => proxyTrouble('unreachable'),
  ],
  [/ECONNREFUSED|ENOTFOUND|EAI_AGAIN|connect E(HOST|NET)UNREACH|CONNECT response/, () => proxyTrouble('unreachable')],
  [/ERR_CERT|certificate/i, () => unansweredUpstream('tls', { definite: true })],
  [/ERR_SSL|ERR_TLS|SSL routines/, () => unansweredUpstream('tls')],
  [/ERR_TOO_MANY_REDIRECTS/, () => unansweredUpstream(ENDLESS_REDIRECTS)],
  [/ERR_(CONNECTION_)?TIMED_OUT|ETIMEDOUT|timed out|Timeout \d+ms exceeded/, () => upstreamTimeout()],
  [
    /Target (page, context or browser|closed)|has been closed|crashed|context disposed|browser has disconnected/i,
    () => browserUnavailable('lost'),
  ],
  [
    /ERR_(CONNECTION|EMPTY_RESPONSE|NETWORK|INTERNET|INCOMPLETE|CONTENT_LENGTH|HTTP2|ABORTED)|ECONNRESET|E(HOST|NET)UNREACH|EPIPE|socket hang up|aborted|disconnected/i,
    () => connectionLost(),
  ],
  // Bytes that are no answer, or a page that no browser shows.
  [
    /Parse Error|incorrect header check|invalid (block|code|distance|stored|bit)|unexpected end of file/,
    () => unexpectedAnswer('answer'),
  ],
  [/net::ERR_/, () => unexpectedAnswer('page')],
];

const ENDLESS_REDIRECTS = 'endless_redirects';

/** True when one redirect led to the next until the browser gave up. */
export function isEndlessRedirects({ code, details }: RunFailure): boolean {
  return code === 'upstream_error' && details.reason === ENDLESS_REDIRECTS;
}

/** The pinned proxy could not be used; nothing reached the provider. */
export function proxyTrouble(reason: 'unreachable' | 'refused'): RunFailure {
  return new RunFailure('proxy_error', { reason }, { transient: reason === 'unreachable', definite: true });
}

/** The connection to the provider broke before an answer came. */
export const connectionLost = (): RunFailure => unansweredUpstream('connection_lost', { transient: true });

function unansweredUpstream(reason: string, how: { transient?: boolean; definite?: boolean } = {}): RunFailure {
  return new RunFailure('upstream_error', { reason, upstream_status: null }, how);
}

/** The provider, or a page of it, did not answer in time. */
export function upstreamTimeout(): RunFailure {
  return new RunFailure('upstream_timeout', {}, { transient: true });
}

/** The failure that something thrown during a run means; `internal_error` when it is of no known kind. */
export function failureOf(error: unknown): RunFailure {
  if (error instanceof RunFailure) return error;
  // A name with several addresses, none of which could be reached.
  if (error instanceof AggregateError && error.errors.length > 0) return failureOf(error.errors[0]);
  // Playwright's, known by its name: the threads of actors read this file too, and need not load a browser's library.
  if (error instanceof Error && error.name === 'TimeoutError') return upstreamTimeout();
  const text = error instanceof Error ? error.message : '';
  const known = NETWORK_ERRORS.find(([pattern]) => pattern.test(firstLine(text)));
  return known ? known[1]() : new RunFailure('internal_error');
}

/** Playwright appends its call log, which quotes headers and pages: only the first line is about the error. */
function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? '';
}

/** Failures that are neither the browser's nor the session's. */
const CONTEXT_STAYS_USABLE: ReadonlySet<RunFailure['code']> = new Set([
  'provider_not_found',
  'provider_rate_limited',
  'validation_error',
  'parsing_error',
  'upstream_error',
]);

/** Whether a context may serve another run after one that failed so. */
export function leavesContextUsable(failure: RunFailure): boolean {
  return CONTEXT_STAYS_USABLE.has(failure.code);
}
