import { errors } from 'playwright';
import type { OperationErrorCode } from '../storage/model/errors.js';
import { SemaphoreRefused } from './fair-semaphore.js';
import type { SessionEffects } from './messages.js';

/** What ends a run without a result. Details go to the caller of the API: they never hold text of a page or an error. */
export class RunFailure extends Error {
  /** Browser, proxy or network trouble: a read may be tried again (OPS-4). */
  readonly transient: boolean;
  /**
   * The provider's own refusal, or certainty that nothing reached it. Any other failure past the write boundary
   * leaves open whether the provider acted.
   */
  readonly definite: boolean;
  readonly effects: SessionEffects | undefined;

  constructor(
    readonly code: OperationErrorCode | 'canceled',
    readonly details: Record<string, unknown> = {},
    how: { transient?: boolean; definite?: boolean; effects?: SessionEffects } = {},
  ) {
    super(code);
    this.transient = how.transient ?? false;
    this.definite = how.definite ?? false;
    this.effects = how.effects;
  }
}

/** The browser is gone, hung, not to be had or has no room; the same run can succeed on another attempt. */
export function browserUnavailable(reason: string, transient = true): RunFailure {
  return new RunFailure('browser_unavailable', { reason }, { transient });
}

/** The session is no longer good; the connection needs a login (CONN-8). */
export function loggedOut(): RunFailure {
  return new RunFailure('authentication_failed', {}, { definite: true, effects: { health: 'needs_login' } });
}

/** The provider holds the account back; only the account's owner can change that (CONN-8). */
export function restricted(): RunFailure {
  return new RunFailure('provider_restricted', {}, { definite: true, effects: { health: 'invalid' } });
}

/** The provider's answer, page or frame does not look as the site description says. Never read as an empty success. */
export function unexpectedAnswer(what: string): RunFailure {
  return new RunFailure('parsing_error', { what });
}

/** A gateway of the provider says that what stands behind it did not answer: it may have acted all the same. */
const GATEWAY_LOST: ReadonlySet<number> = new Set([502, 504]);

/** What an HTTP status of the provider means, or null when it is none of the refusals. `retryAfter` is its header. */
export function refusal(status: number, retryAfter?: string): RunFailure | null {
  if (status < 400) return null;
  const how = { definite: !GATEWAY_LOST.has(status) };
  if (status === 401) return loggedOut();
  if (status === 404) return new RunFailure('provider_not_found', { upstream_status: status }, how);
  if (status === 429)
    return new RunFailure('provider_rate_limited', { upstream_status: status, ...retryAfterSeconds(retryAfter) }, how);
  return new RunFailure('upstream_error', { upstream_status: status }, how);
}

function retryAfterSeconds(header: string | undefined): Record<string, unknown> {
  return header !== undefined && /^\d{1,9}$/.test(header) ? { retry_after_seconds: Number(header) } : {};
}

/**
 * Trouble as Chromium and Node name it: the first pattern found in an error's text decides. Both connect to the proxy
 * only, so a connection that was never made is always the proxy's, and then nothing has reached the provider; one that
 * was refused over its certificate carried nothing either. Any other line broke with who knows what on it.
 */
const TROUBLE: [pattern: RegExp, failure: () => RunFailure][] = [
  [
    /ERR_PROXY|ERR_TUNNEL_CONNECTION_FAILED|ERR_INVALID_AUTH_CREDENTIALS|ERR_NO_SUPPORTED_PROXIES|ERR_SOCKS|ERR_MANDATORY_PROXY/,
    () => proxyTrouble('unreachable'),
  ],
  [/ECONNREFUSED|ENOTFOUND|EAI_AGAIN|connect E(HOST|NET)UNREACH|CONNECT response/, () => proxyTrouble('unreachable')],
  [/ERR_CERT|certificate/i, () => new RunFailure('upstream_error', { reason: 'tls' }, { definite: true })],
  [/ERR_SSL|ERR_TLS|SSL routines/, () => new RunFailure('upstream_error', { reason: 'tls' })],
  [/ERR_(CONNECTION_)?TIMED_OUT|ETIMEDOUT|timed out|Timeout \d+ms exceeded/, () => upstreamTimeout()],
  [
    /Target (page, context or browser|closed)|has been closed|crashed|context disposed|browser has disconnected/i,
    () => browserUnavailable('lost'),
  ],
  [
    /ERR_(CONNECTION|EMPTY_RESPONSE|NETWORK|INTERNET|INCOMPLETE|CONTENT_LENGTH|HTTP2|ABORTED)|ECONNRESET|E(HOST|NET)UNREACH|EPIPE|socket hang up|aborted|disconnected/i,
    () => new RunFailure('upstream_error', { reason: 'connection_lost' }, { transient: true }),
  ],
];

/** The pinned proxy could not be used; nothing reached the provider. */
export function proxyTrouble(reason: 'unreachable' | 'refused'): RunFailure {
  return new RunFailure('proxy_error', { reason }, { transient: reason === 'unreachable', definite: true });
}

/** The provider, or a page of it, did not answer in time. */
export function upstreamTimeout(): RunFailure {
  return new RunFailure('upstream_timeout', {}, { transient: true });
}

/** The failure that anything thrown during a run amounts to. What nobody foresaw is `internal_error`. */
export function failureOf(error: unknown): RunFailure {
  if (error instanceof RunFailure) return error;
  if (error instanceof SemaphoreRefused) return browserUnavailable(error.reason);
  if (error instanceof errors.TimeoutError) return upstreamTimeout();
  const text = error instanceof Error ? error.message : '';
  const trouble = TROUBLE.find(([pattern]) => pattern.test(firstLine(text)));
  return trouble ? trouble[1]() : new RunFailure('internal_error');
}

/** Playwright appends its call log, which quotes headers and pages: only the first line says what happened. */
function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? '';
}

/** Whether a context may serve another run after one that ended so: the browser and the session were not the trouble. */
export function leavesContextUsable(failure: RunFailure): boolean {
  switch (failure.code) {
    case 'provider_not_found':
    case 'provider_rate_limited':
    case 'validation_error':
    case 'parsing_error':
    case 'upstream_error':
      return true;
    default:
      return false;
  }
}
