import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import tls, { type TLSSocket } from 'node:tls';
import type { WriteProgress } from '../../../storage/model/evidence.js';
import { Deadline } from '../../../storage/process/deadline.js';
import {
  connectionLost,
  failureOf,
  permissionRanOut,
  proxyTrouble,
  RunFailure,
  upstreamTimeout,
} from '../../failures.js';
import { LIMITS } from '../../limits.js';
import type { ProxyTarget } from '../../messages.js';
import type { ProgramRun } from '../../program.js';
import { permits, type SendPermission } from '../../send-permission.js';
import type { Site } from '../site/site.js';
import { answerText } from './answer-text.js';
import { basicCredentials } from './proxy-agent.js';

/** Not imported: an import of Node's HTTP loads its `fetch` and WebSockets as well, in every thread. */
const http = process.getBuiltinModule('node:http');
const https = process.getBuiltinModule('node:https');

/** The one request that a connection carries. */
export interface SiteRequest {
  path: string;
  headers: Record<string, string>;
  body: string;
}

/** The site's answer to it. */
export interface SiteAnswer {
  status: number;
  headers: IncomingMessage['headers'];
  text: string;
}

/**
 * A connection to the site for one write, through the session's proxy and without a browser: everything that takes time is
 * done before the write is let past its boundary, and nothing stands between the last look at the permission and the request.
 *
 * *open* (tunnel and TLS are done, nothing was sent) ─ send ─▶ *sent* ─ answer, failure ─▶ *closed*; `close` at any time.
 *
 * I1. Nothing of the request leaves before `send` has seen that the permission holds and that the run has not ended.
 * I2. A failure before that is `unsent`; one after it is not.
 * I3. When the signal aborts, the connection is reset: what the kernel still holds is thrown away, not delivered late.
 */
export class SiteConnection {
  readonly #tunnel: Socket;
  readonly #socket: TLSSocket;
  readonly #signal: AbortSignal;
  readonly #reset = () => reset(this.#tunnel, this.#socket);

  private constructor(tunnel: Socket, socket: TLSSocket, signal: AbortSignal) {
    this.#tunnel = tunnel;
    this.#socket = socket;
    this.#signal = signal;
    signal.addEventListener('abort', this.#reset); // I3
  }

  /**
   * Connects to the site within `limit_ms`. Throws `proxy_error`, `upstream_timeout` or what a broken connection means; the
   * signal's reason when it aborts.
   */
  static async open(site: Site, proxy: ProxyTarget, signal: AbortSignal, limit_ms: number): Promise<SiteConnection> {
    const limit = new Deadline(limit_ms, upstreamTimeout);
    const end = AbortSignal.any([signal, limit.signal]);
    try {
      end.throwIfAborted();
      const { hostname, port } = new URL(site.origin);
      const tunnel = await throughProxy(proxy, `${hostname}:${port || 443}`, end);
      return new SiteConnection(tunnel, await secured(tunnel, hostname, site.ca, end), signal);
    } finally {
      limit.stop();
    }
  }

  /**
   * Posts once, if that may still happen, and reads the answer within `request_ms` of the run, whose `progress` follows. Rejects with
   * `RunFailure`.
   */
  async post(
    site: Site,
    { path, headers, body }: SiteRequest,
    permission: SendPermission,
    run: Pick<ProgramRun, 'progress' | 'request_ms'>,
  ): Promise<SiteAnswer> {
    if (this.#signal.aborted) throw unsent(failureOf(this.#signal.reason)); // I1
    if (!permits(permission)) throw permissionRanOut(); // I1
    if (this.#socket.destroyed || !this.#socket.writable || this.#socket.readableEnded) throw unsent(connectionLost());
    const { host } = new URL(site.origin);
    const sent = http.request({
      createConnection: () => this.#socket,
      method: 'POST',
      path,
      headers: { host, ...headers, 'content-length': Buffer.byteLength(body) },
      maxHeaderSize: LIMITS.answer_header_bytes,
    });
    this.#follow(sent, run.progress);
    sent.end(body);
    const limit = new Deadline(run.request_ms(), upstreamTimeout);
    limit.signal.addEventListener('abort', this.#reset); // I3
    try {
      const answer = await answerTo(sent);
      await allTold(run.progress);
      return answer;
    } catch (error) {
      const ended = [this.#signal, limit.signal].find(({ aborted }) => aborted);
      throw failureOf(ended ? ended.reason : error);
    } finally {
      limit.stop();
    }
  }

  /** Notes how far the request comes, from now on, when it begins to leave. */
  #follow(sent: ClientRequest, progress: WriteProgress): void {
    const at = new Date().toISOString();
    progress.request = { sent: 'partly', at };
    // What TLS made of the request stands in the tunnel's queue by then: what is queued behind it is taken once that has left.
    const left = (error?: Error | null) => {
      if (!error) progress.request = { sent: 'yes', at };
    };
    sent.once('finish', () => this.#tunnel.writable && this.#tunnel.write('', left));
    sent.once('response', ({ statusCode = 0 }) => {
      progress.answer = { status: statusCode };
    });
  }

  close(): void {
    this.#signal.removeEventListener('abort', this.#reset);
    this.#socket.destroy();
    this.#tunnel.destroy();
  }
}

/** An answer may be read in the turn of the event loop before the one that tells that its request has left. */
async function allTold(progress: WriteProgress): Promise<void> {
  for (let turns = 0; turns < 2 && progress.request.sent !== 'yes'; turns++) await turn();
}

/** The same failure with the proof that nothing left (I2). */
function unsent({ code, details, transient, effects }: RunFailure): RunFailure {
  return new RunFailure(code, details, { transient, unsent: true, ...(effects && { effects }) });
}

/** A tunnel to the target, with nothing sent through it. */
async function throughProxy(proxy: ProxyTarget, target: string, signal: AbortSignal): Promise<Socket> {
  const { status, socket } = await askTunnel(proxy, target, signal).catch((error: unknown) => {
    throw failureOf(signal.aborted ? signal.reason : error);
  });
  if (status === 200) return socket;
  socket.destroy();
  throw proxyTrouble('refused');
}

/** Asks a proxy for a tunnel to the target; gives what it answered, and the connection to it. Rejects with what broke that. */
export function askTunnel(
  { server, username, password = '' }: ProxyTarget,
  target: string,
  signal: AbortSignal,
): Promise<{ status: number; socket: Socket }> {
  const { protocol, hostname, port } = new URL(server);
  const authorization = username === undefined ? {} : { 'proxy-authorization': basicCredentials(username, password) };
  const { request } = protocol === 'https:' ? https : http;
  const host = hostname.replace(/^\[(.*)\]$/, '$1'); // an address of version 6
  const options = { host, port: port || undefined, method: 'CONNECT', path: target, agent: false, signal };
  return new Promise((resolve, reject) => {
    const asked = request({ ...options, headers: { host: target, ...authorization } });
    asked.once('connect', ({ statusCode: status = 0 }, socket: Socket, head: Buffer) => {
      socket.on('error', () => {}); // the TLS on it fails as well, and says why
      if (head.length > 0) socket.unshift(head);
      resolve({ status, socket });
    });
    asked.once('error', reject);
    asked.end();
  });
}

/** TLS with the site on the tunnel. Rejects with `RunFailure`. */
export function secured(
  tunnel: Socket,
  servername: string,
  ca: string | undefined,
  signal: AbortSignal,
): Promise<TLSSocket> {
  // Over a stream of its own: a tunnel whose handle the TLS had taken over could not be reset without a crash of the process.
  const stream = Duplex.from({ readable: tunnel, writable: tunnel });
  const socket = tls.connect({ socket: stream, servername, ...(ca !== undefined && { ca }) });
  return new Promise((resolve, reject) => {
    const aborted = () => {
      reset(tunnel, socket);
      reject(failureOf(signal.reason));
    };
    signal.addEventListener('abort', aborted, { once: true });
    const done = () => signal.removeEventListener('abort', aborted);
    socket.once('secureConnect', () => {
      done();
      resolve(socket);
    });
    socket.on('error', (error) => {
      done();
      reject(failureOf(error));
    });
    socket.once('close', () => {
      done();
      reject(connectionLost());
    });
    if (signal.aborted) aborted();
  });
}

function reset(tunnel: Socket, socket: TLSSocket): void {
  // Only a plain connection can be reset; one to a proxy that speaks TLS itself is closed.
  if (!(tunnel instanceof tls.TLSSocket) && !tunnel.destroyed) tunnel.resetAndDestroy();
  socket.destroy();
  tunnel.destroy();
}

async function answerTo(sent: ClientRequest): Promise<SiteAnswer> {
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    sent.once('response', resolve);
    sent.on('error', reject);
  });
  const text = await answerText(answer, answer.headers['content-encoding'], LIMITS.write_answer_bytes);
  return { status: answer.statusCode ?? 0, headers: answer.headers, text };
}
