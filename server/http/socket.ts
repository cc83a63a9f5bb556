import type { HttpRequest, HttpResponse, TemplatedApp, us_listen_socket } from 'uWebSockets.js';
import type { Answer, MadeBody } from './answer.js';
import { LIMITS } from './limits.js';

/**
 * Everything uWebSockets.js asks of its users, kept here and nowhere else:
 *
 * - `req` lives until the handler returns: what is needed of it is copied in the constructor.
 * - A request without `onAborted` ends the process; `res` throws once it was aborted or answered: both are noted, and
 *   `send` touches `res` only while it may.
 * - Chunks of `onData` are neutered when the callback returns: they are copied.
 * - Outside its callbacks nothing is corked: `send` corks, so that an answer is one write.
 * - `end` copies what the socket does not take at once: large answers go out through `tryEnd` and `onWritable`.
 * - An answer that overtakes its request's body resets the connection under some clients: it waits for the body's end.
 * - `endWithoutBody(undefined)` is not `endWithoutBody()`: it announces 2^63 bytes and leaves the answer pending for ever.
 * - Closing the listening socket keeps kept-alive connections: `close` closes the app, which closes them all.
 * - Ports are shared (SO_REUSEPORT) unless asked otherwise: a second service on the port would take half its requests.
 * - Broken framing (chunks, lengths, no Host) is answered 400 by the library, with its own body; the request is aborted.
 * - What is above U+007F at either end of a header's value is cut off, as white space is: `clé` comes as `cl`, `é` as nothing.
 * - Pipelining is not supported while an answer is pending: the library closes the connection.
 */
// Read by the native part when it is loaded, hence before the import.
process.env.UWS_HTTP_MAX_HEADERS_SIZE ??= String(LIMITS.headers_bytes);
const uws = await import('uWebSockets.js');

/** Headers that are looked at; absent ones are ''. */
const HEADERS = [
  'authorization',
  'content-encoding',
  'content-type',
  'gateway-access-client-id',
  'gateway-access-client-secret',
  'idempotency-key',
  'if-none-match',
  'prefer',
  'user-agent',
  'x-request-id',
] as const;
export type RequestHeader = (typeof HEADERS)[number];

/** The idempotency key of a request that has the header and nothing in it. */
const BLANK = ' ';

/** One request and the answer to it. */
export class Exchange {
  readonly method: string;
  readonly path: string;
  /** Without the `?`. */
  readonly query: string;
  readonly headers: Record<RequestHeader, string>;
  readonly #res: HttpResponse;
  #limit_bytes = 0;
  #chunks: Buffer[] = [];
  #received_bytes = 0;
  #bodyEnded = false;
  #aborted = false;
  #answered = false;
  #closeAfter = false;
  #wakes: (() => void)[] = [];

  constructor(res: HttpResponse, req: HttpRequest) {
    this.#res = res;
    this.method = req.getCaseSensitiveMethod();
    this.path = req.getUrl();
    this.query = req.getQuery() ?? '';
    const headers: Partial<Record<RequestHeader, string>> = {};
    for (const name of HEADERS) headers[name] = req.getHeader(name);
    // An empty key is a mistake of its client, no wish for a new one: sent again, the same request would run twice.
    if (this.method === 'POST' && headers['idempotency-key'] === '') {
      req.forEach((name) => {
        if (name === 'idempotency-key') headers[name] = BLANK;
      });
    }
    this.headers = headers as Record<RequestHeader, string>;
  }

  /** Begins to listen for abort and body; call it in the turn the exchange was made in. Keeps at most `limit_bytes`. */
  receive(limit_bytes: number): void {
    this.#limit_bytes = limit_bytes;
    this.#res.onAborted(() => {
      this.#aborted = true;
      this.#chunks = [];
      this.#wake();
    });
    this.#res.onData((chunk, isLast) => this.#take(chunk, isLast));
  }

  get aborted(): boolean {
    return this.#aborted;
  }

  /** The whole body, once it is there; null when it is larger than the limit, or the client went away. */
  async body(): Promise<Buffer | null> {
    await this.#bodyEnd();
    if (this.#aborted || this.#received_bytes > this.#limit_bytes) return null;
    return this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks);
  }

  /** Resolves when the client went away, or the answer was sent. */
  async gone(): Promise<void> {
    while (!this.#aborted && !this.#answered) await this.#change();
  }

  /** Sends the answer; does nothing when the client went away. `close` ends the connection after it. */
  async send(answer: Answer, headers: Record<string, string>, close: boolean): Promise<void> {
    await this.#bodyEnd();
    if (this.#aborted) return;
    const res = this.#res;
    const closing = close || this.#closeAfter;
    this.#answered = true;
    res.cork(() => {
      res.writeStatus(STATUS_LINES[answer.status] ?? String(answer.status));
      for (const [name, value] of Object.entries(headers)) res.writeHeader(name, value);
      for (const [name, value] of Object.entries(answer.headers ?? {})) res.writeHeader(name, value);
      if (answer.body === null || this.method === 'HEAD') {
        if (closing) res.writeHeader('Connection', 'close');
        res.endWithoutBody();
        return;
      }
      res.writeHeader('Content-Type', answer.contentType ?? 'application/json; charset=utf-8');
      if (typeof answer.body !== 'string') {
        if (closing) res.writeHeader('Connection', 'close');
      } else if (answer.body.length < LIMITS.streamed_answer_bytes) res.end(answer.body, closing);
      else this.#stream(Buffer.from(answer.body), closing);
    });
    this.#wake();
    if (answer.body !== null && typeof answer.body !== 'string' && this.method !== 'HEAD')
      await this.#make(answer.body);
  }

  #stream(body: Buffer, closing: boolean): void {
    const res = this.#res;
    if (closing) res.writeHeader('Connection', 'close');
    const [, done] = res.tryEnd(body, body.length);
    if (done) return;
    res.onWritable((offset) => {
      const [ok] = res.tryEnd(body.subarray(offset), body.length);
      return ok;
    });
  }

  /** Writes a body as it is made. When that fails, nothing but a cut connection can tell the client. */
  async #make({ bytes, pieces }: MadeBody): Promise<void> {
    let written = 0;
    try {
      for await (const piece of pieces()) {
        await this.#write(piece, written, bytes);
        if (this.#aborted) return;
        written += piece.length;
      }
      if (written !== bytes) throw new Error(`an answer has ${written} bytes, not ${bytes}`);
    } catch (error) {
      if (!this.#aborted && written < bytes) this.#res.close();
      throw error;
    }
  }

  /** Resolves when the client has taken the piece, which begins at `from` of `total` bytes, or went away. */
  async #write(piece: Buffer, from: number, total: number): Promise<void> {
    const res = this.#res;
    let taken = false;
    res.onWritable((offset) => {
      [taken] = res.tryEnd(piece.subarray(offset - from), total);
      this.#wake();
      return taken;
    });
    res.cork(() => {
      [taken] = res.tryEnd(piece, total);
    });
    while (!taken && !this.#aborted) await this.#change();
  }

  #take(chunk: ArrayBuffer, isLast: boolean): void {
    this.#received_bytes += chunk.byteLength;
    if (this.#received_bytes > this.#limit_bytes) {
      this.#chunks = [];
      if (this.#received_bytes > this.#limit_bytes + LIMITS.dropped_body_bytes) this.#closeAfter = true;
    } else if (chunk.byteLength > 0) this.#chunks.push(Buffer.from(chunk.slice(0)));
    this.#bodyEnded ||= isLast || this.#closeAfter;
    if (this.#bodyEnded) this.#wake();
  }

  async #bodyEnd(): Promise<void> {
    while (!this.#bodyEnded && !this.#aborted) await this.#change();
  }

  #change(): Promise<void> {
    return new Promise((resolve) => this.#wakes.push(resolve));
  }

  #wake(): void {
    for (const wake of this.#wakes.splice(0)) wake();
  }
}

/** What `app.listen` takes beside what its types say. */
interface ListenExclusively {
  listen(host: string, port: number, options: number, listening: (socket: us_listen_socket | false) => void): void;
}

export interface Listening {
  port: number;
  /** Closes the listening socket and every connection, whatever they are doing. */
  close(): void;
}

/**
 * Listens on host and port (0: a free one) and hands every request to `handle`, which must call `receive` before it
 * returns. Rejects with one Error when the port cannot be had.
 */
export async function listen(host: string, port: number, handle: (exchange: Exchange) => void): Promise<Listening> {
  const app: TemplatedApp = uws.App();
  app.any('/*', (res, req) => handle(new Exchange(res, req)));
  const socket = await new Promise<us_listen_socket | false>((resolve) => {
    (app as unknown as ListenExclusively).listen(host, port, EXCLUSIVE_PORT, resolve);
  });
  if (!socket) throw new Error(`cannot listen on ${host}:${port}: the port is in use or the address is not ours`);
  return { port: uws.us_socket_local_port(socket), close: () => void app.close() };
}

/** LIBUS_LISTEN_EXCLUSIVE_PORT. */
const EXCLUSIVE_PORT = 1;

const STATUS_LINES: Record<number, string> = {
  200: '200 OK',
  201: '201 Created',
  202: '202 Accepted',
  204: '204 No Content',
  304: '304 Not Modified',
  400: '400 Bad Request',
  401: '401 Unauthorized',
  403: '403 Forbidden',
  404: '404 Not Found',
  405: '405 Method Not Allowed',
  409: '409 Conflict',
  413: '413 Content Too Large',
  415: '415 Unsupported Media Type',
  423: '423 Locked',
  424: '424 Failed Dependency',
  429: '429 Too Many Requests',
  500: '500 Internal Server Error',
  503: '503 Service Unavailable',
};
