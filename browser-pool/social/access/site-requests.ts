import type { Dispatcher, ProxyAgent } from 'undici';
import type { Deadline } from '../../../storage/process/deadline.js';
import {
  browserUnavailable,
  connectionLost,
  failureOf,
  proxyTrouble,
  RunFailure,
  unexpectedAnswer,
  upstreamTimeout,
} from '../../failures.js';
import type { ProgramRun } from '../../program.js';
import type { Site } from '../site/site.js';
import { cookieLine, setCookies } from './cookies.js';
import { proxyAgent } from './proxy-agent.js';

/** What of a run its requests need. */
export type RequestingRun = Pick<ProgramRun, 'context' | 'proxy' | 'signal' | 'userAgent' | 'sawCookies'>;

export interface SiteRead {
  method?: 'GET' | 'POST';
  headers: Record<string, string>;
  body?: string | Buffer;
  /** How long the body of the answer may be silent. */
  silence_ms?: number;
}

/**
 * Requests of one run to the site that change nothing there, without a browser: through the session's proxy, with the cookies that a
 * browser would send, and what answers set is handed to the context. A connection is kept for the run's next request, and closes by
 * itself soon after the last.
 */
export class SiteRequests {
  readonly #site: Site;
  readonly #run: RequestingRun;
  #agent: ProxyAgent | undefined;

  constructor(site: Site, run: RequestingRun) {
    this.#site = site;
    this.#run = run;
  }

  /**
   * Makes a request and has `read` take the answer, redirects among them. What `limit` has left bounds both, until it is stopped. Throws
   * `RunFailure`.
   */
  async make<T>(
    address: URL,
    { method = 'GET', headers, body, silence_ms }: SiteRead,
    limit: Deadline,
    read: (answer: Dispatcher.ResponseData) => Promise<T>,
  ): Promise<T> {
    const { default: client } = await import('undici');
    const { context, signal, userAgent } = this.#run;
    const ended = new AbortController();
    const closed = () => ended.abort(browserUnavailable('lost'));
    context.once('close', closed);
    this.#agent ??= proxyAgent(client, this.#site, this.#run.proxy);
    let answer: Dispatcher.ResponseData | undefined;
    try {
      const cookies = await context.cookies(address.href);
      answer = await client.request(address, {
        dispatcher: this.#agent,
        signal: AbortSignal.any([ended.signal, signal, limit.signal]),
        method,
        headers: { 'user-agent': userAgent, ...headers, ...(cookies.length > 0 && { cookie: cookieLine(cookies) }) },
        ...(body !== undefined && { body }),
        ...(silence_ms !== undefined && { bodyTimeout: silence_ms }),
      });
      answer.body.on('error', () => {}); // of one that is not read to its end
      keepCookies(this.#run, answer.headers['set-cookie'], address);
      return await read(answer);
    } catch (error) {
      throw requestFailure(error);
    } finally {
      context.off('close', closed);
      answer?.body.destroy();
    }
  }
}

/**
 * Hands the context what an answer outside the browser set. Not waited for, because the provider may have acted: calls of a context
 * keep their order, so its next request carries the cookies.
 */
export function keepCookies(
  run: Pick<ProgramRun, 'context' | 'sawCookies'>,
  lines: string[] | string | undefined,
  address: URL,
): void {
  if (lines === undefined || lines.length === 0) return;
  const { taken, leftOut } = setCookies([lines].flat(), address);
  // Each by itself: one that the browser does not take would take the others with it.
  for (const cookie of taken) void run.context.addCookies([cookie]).catch(() => {});
  run.sawCookies(leftOut);
}

/** A header that stands once. */
export function single(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}

function requestFailure(error: unknown): RunFailure {
  if (error instanceof RunFailure) return error;
  const text = error instanceof Error ? `${error.name} ${error.message}` : '';
  if (/Proxy response \(407\)/.test(text)) return proxyTrouble('refused');
  if (/Proxy response/.test(text)) return proxyTrouble('unreachable');
  if (/(Headers|Body|Connect)TimeoutError/.test(text)) return upstreamTimeout();
  if (/HTTPParserError|HeadersOverflowError/.test(text)) return unexpectedAnswer('answer');
  const known = failureOf(error);
  // Anything else of undici's is a broken connection: `other side closed`, `terminated`.
  return known.code === 'internal_error' ? connectionLost() : known;
}
