import { createParser } from 'eventsource-parser';
import type { Dispatcher, ProxyAgent } from 'undici';
import { LIMITS } from '../../limits.js';
import type { ProxyTarget } from '../../messages.js';
import type { Renewal } from '../../session.js';
import type { Site } from '../site/site.js';
import { cookieHeader, cookieValue, renewedByAnswer, setCookies } from './cookies.js';
import { refusalKind } from './endpoints.js';
import { readFrame, type StreamFrame } from './frames.js';
import { parsedJson } from './json.js';
import { opening } from './opening.js';
import { type HttpClient, proxyAgent } from './proxy-agent.js';
import { pageFailure, redirectFailure } from './signed-out.js';

/** One stream to be opened, and its handlers. */
export interface StreamRequest {
  /** `storageState` as JSON text. */
  session: string;
  proxy: ProxyTarget;
  /** Aborting ends the stream; `onEnd` then gets `aborted`. */
  signal: AbortSignal;
  /** The answer has come, and what it says of the session is told. */
  onAnswered?: () => void;
  /** The first frame means that the provider accepted. A promise pauses the stream until it settles: unread frames stay with the provider. */
  onFrame: (frame: StreamFrame) => Promise<void> | undefined;
  /** The answer renewed the session's cookies. */
  onRenewed?: (renewal: Renewal) => void;
  /** The answer set cookies of these names, which no browser takes. */
  onCookiesLeftOut?: (names: string[]) => void;
  /** Exactly once, last. */
  onEnd: (end: StreamEnd) => void;
}

/** Why a stream ended, or never opened. */
export type StreamEnd =
  /** The provider closed it, the connection broke, or nothing answered in time. Worth another try. */
  | { reason: 'closed' | 'connection_lost' | 'timeout' | 'proxy' }
  /** The provider refused with this status. */
  | { reason: 'refused'; status: number }
  /** The session is no longer good: the connection needs a login. */
  | { reason: 'logged_out' }
  /** The provider has restricted the account: no session of it gets a stream (CONN-8). */
  | { reason: 'restricted' }
  /** The answer is no event stream, or a frame outgrew its bound. */
  | { reason: 'malformed' }
  | { reason: 'aborted' };

/**
 * Opens event streams of the site with a session's cookies, through the session's proxy and without a browser: a
 * stream costs one socket, so that one node can hold thousands. One client a thread; it owns the connections. Its
 * caller decides about silence, ends and gaps (EVT-9).
 */
export class StreamClient {
  readonly #site: Site;
  readonly #proxies = new Map<string, ProxyAgent>();

  constructor(site: Site) {
    this.#site = site;
  }

  /** Opens one stream. Never throws: the request's handlers get everything. */
  open(stream: StreamRequest): void {
    void this.#follow(stream)
      .catch((error: unknown) => endOf(error))
      .then((end) => stream.onEnd(stream.signal.aborted ? { reason: 'aborted' } : end));
  }

  /** Ends every stream at once. */
  async close(): Promise<void> {
    const proxies = [...this.#proxies.values()];
    this.#proxies.clear();
    await Promise.all(proxies.map((proxy) => proxy.destroy()));
  }

  async #follow(stream: StreamRequest): Promise<StreamEnd> {
    const { default: client } = await import('undici');
    const { session, proxy, signal, onFrame } = stream;
    const { origin, csrf } = this.#site;
    const address = new URL(origin + this.#site.stream.path);
    const cookie = cookieHeader(session, address);
    const { statusCode, headers, body } = await client.request(address, {
      dispatcher: this.#agentFor(client, proxy),
      signal,
      headersTimeout: LIMITS.stream_open_ms,
      bodyTimeout: 0,
      headers: {
        accept: 'text/event-stream',
        'cache-control': 'no-store',
        cookie,
        [csrf.header]: cookieValue(session, address, csrf.cookie) ?? '',
      },
    });
    tellCookies(stream, [headers['set-cookie'] ?? []].flat(), address);
    stream.onAnswered?.();
    const type = headers['content-type'];
    if (statusCode !== 200 || typeof type !== 'string' || !type.startsWith('text/event-stream')) {
      return this.#refused(address, statusCode, headers.location, await opening(body, LIMITS.page_opening_bytes));
    }
    let outgrown = false;
    let held: Promise<void> | undefined;
    const parser = createParser({
      onEvent: (event) => {
        held = onFrame(readFrame(event, this.#site.stream));
      },
      onError: (error) => {
        outgrown ||= error.type === 'max-buffer-size-exceeded';
      },
      maxBufferSize: LIMITS.stream_frame_characters,
    });
    body.setEncoding('utf8');
    for await (const text of body) {
      parser.feed(text);
      if (outgrown) return { reason: 'malformed' };
      await held;
    }
    return { reason: 'closed' };
  }

  /** The end that a refusal stands for: the session's state is read from it as an operation would. */
  #refused(address: URL, status: number, location: string | string[] | undefined, refusal: string): StreamEnd {
    const away = typeof location === 'string' ? URL.parse(location, address.href) : null;
    const trouble = (away && redirectFailure(this.#site, away, address)) ?? pageFailure(this.#site, refusal, true);
    if (status === 401 || trouble?.code === 'authentication_failed') return { reason: 'logged_out' };
    if (trouble?.code === 'provider_restricted') return { reason: 'restricted' };
    if (refusalKind(this.#site, status, parsedJson(refusal)) === 'accountRestricted') return { reason: 'restricted' };
    if (status === 200) return { reason: 'malformed' };
    return { reason: 'refused', status };
  }

  #agentFor(client: HttpClient, proxy: ProxyTarget): Dispatcher {
    const key = JSON.stringify([proxy.server, proxy.username, proxy.password]);
    let agent = this.#proxies.get(key);
    if (!agent) {
      agent = proxyAgent(client, this.#site, proxy);
      this.#proxies.set(key, agent);
    }
    return agent;
  }
}

function tellCookies({ session, onRenewed, onCookiesLeftOut }: StreamRequest, lines: string[], address: URL): void {
  const { taken, leftOut } = setCookies(lines, address);
  if (leftOut.length > 0) onCookiesLeftOut?.(leftOut);
  const renewed = renewedByAnswer(session, taken);
  if (renewed !== undefined) onRenewed?.({ base: session, session: renewed });
}

function endOf(error: unknown): StreamEnd {
  const text = error instanceof Error ? `${error.name} ${error.message} ${codeOf(error)} ${codeOf(error.cause)}` : '';
  if (/Proxy response|ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH/.test(text)) return { reason: 'proxy' };
  if (/UND_ERR_(HEADERS|CONNECT)_TIMEOUT|ETIMEDOUT/.test(text)) return { reason: 'timeout' };
  return { reason: 'connection_lost' };
}

function codeOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
}
