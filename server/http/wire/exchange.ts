import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import { setImmediate as turn } from 'node:timers/promises';
import { checkStep, type Steps } from '../../../storage/process/steps.js';
import { type Answer, isMade, type MadeBody } from '../answer.js';
import { LIMITS } from '../limits.js';
import type { BodyMemory } from './body-memory.js';
import { IncomingBody, type RefusedBody } from './incoming-body.js';
import { type Ambiguity, type RequestHead, type RequestHeader, readHead } from './request-headers.js';
import { STATUS_LINES } from './status-lines.js';

/*
 * One request and the answer to it, over uWebSockets.js.
 *
 *     receiving ──end of the body, or far past its limit──▶ received ──send()──▶ answered
 *         └──────────────────────────────┬─────────────────────┴───────────────────┘
 *                             the client goes away ──▶ aborted
 *
 * I1. `req` lives until the handler returns: what is needed of it is copied before, the headers when they are first asked for.
 * I2. A request without `onAborted` ends the process: `receive` is called in the turn the exchange was made in.
 * I3. `res` throws once it was aborted or ended: it is touched only while neither has happened.
 * I4. Chunks of `onData` are neutered when the callback returns: they are copied.
 * I5. Outside its callbacks nothing is corked: `send` corks, so that an answer is one write.
 * I6. `end` copies what the socket does not take at once: large answers go out through `tryEnd` and `onWritable`.
 *     A body whose length is not known goes out in chunks, through `write`: it copies what is not taken, drains only when it is
 *     called again, and a writable event says nothing of how much is left. What follows a piece is written once the filler, in a chunk
 *     of its own, was taken whole: so at most one piece is held. A client that takes nothing of what is held for ten seconds, and up to four
 *     more, is cut by the library; while nothing is held, an answer may be silent for as long as it likes.
 * I7. An answer that overtakes its request's body resets the connection under some clients: it waits for the body's end. What comes
 *     until then is dropped; the library closes a connection on which nothing comes, or less than 16 KiB a second, for ten seconds.
 * I8. `endWithoutBody` with a length leaves the answer pending for ever, and `undefined` announces 2^63 bytes: it gets no argument.
 * I9. A connection that is paused stays so, for the requests after this one as well: it is resumed before its request's body is waited
 *     for, and when all of it has come in spite of the pause (the library goes on reading where it could fill its buffer).
 * I10. A request in chunks is the last on its connection: the library takes what follows the last chunk, trailers too, for the next
 *      request. So is one whose end is not certain. It is answered in a later turn: what came with it in one piece is then looked at
 *      first, and the library, which finds a request unanswered, closes the connection instead of running it.
 */

interface State {
  kind: 'receiving' | 'received' | 'answered' | 'aborted';
}

const STEPS: Steps<State['kind']> = {
  receiving: ['received', 'aborted'],
  received: ['answered', 'aborted'],
  answered: ['aborted'],
  aborted: [],
};

export class HttpExchange {
  readonly method: string;
  readonly path: string;
  /** Without the `?`. */
  readonly query: string;
  readonly #res: HttpResponse;
  readonly #req: HttpRequest;
  #head: RequestHead | undefined;
  /** The connection ends after the answer. */
  #last = false;
  #state: State = { kind: 'receiving' };
  #body: IncomingBody | undefined;
  #declaredBytes = 0;
  #paused = false;
  #piecesTaken = 0;
  #wakes: (() => void)[] = [];

  constructor(res: HttpResponse, req: HttpRequest) {
    this.#res = res;
    this.#req = req;
    this.method = req.getCaseSensitiveMethod(); // I1
    this.path = req.getUrl();
    this.query = req.getQuery() ?? '';
  }

  /** All that are read; '' for those that are absent. First asked for in the turn in which the request came (I1). */
  get headers(): Readonly<Record<RequestHeader, string>> {
    return this.#readHead().headers;
  }

  /** Why it is not certain where this request ends, whom it is for or what it asks; in that turn, once and before `receive`. */
  get ambiguous(): Ambiguity | undefined {
    return this.#readHead().ambiguous;
  }

  #readHead(): RequestHead {
    this.#head ??= readHead(this.#req);
    return this.#head;
  }

  /** One of them, in that turn: for what needs no more. */
  header(name: RequestHeader): string {
    return this.#req.getHeader(name); // I1
  }

  /** The client's address, or its proxy's; '' once it went away. Of IPv6 all eight groups are written in full. */
  remoteAddress(): string {
    return this.aborted ? '' : Buffer.from(this.#res.getRemoteAddressAsText()).toString(); // I3
  }

  /** Begins to listen for abort and body (I2). Keeps at most `limit_bytes`, as far as there is room in `memory`. */
  receive(limit_bytes: number, memory: BodyMemory): void {
    const declared = this.#req.getHeader('content-length');
    this.#body = new IncomingBody(limit_bytes, declared, memory);
    this.#res.onAborted(() => this.#enter({ kind: 'aborted' }));
    this.#res.onData((chunk, isLast) => this.#take(chunk, isLast));
    this.#declaredBytes = Number(declared);
    if (this.#declaredBytes > LIMITS.small_body_bytes) this.#pause(); // what is read at once may be much more
    this.#last = this.#req.getHeader('transfer-encoding') !== ''; // I10
    // Nobody knows where its body ends.
    if (this.#head?.ambiguous === undefined) return;
    this.#last = true;
    this.#enter({ kind: 'received' });
  }

  /** What its head says that its body has; 0 where it says nothing. */
  get declaredBytes(): number {
    return this.#declaredBytes;
  }

  /** Parts of a large answer that the client has taken so far, but for what its socket holds. */
  get piecesTaken(): number {
    return this.#piecesTaken;
  }

  /** True when the client went away before it had the whole answer. */
  get aborted(): boolean {
    return this.#state.kind === 'aborted';
  }

  /**
   * Has the whole body taken: until then only its beginning is. Called when the request may send it; it counts as the workspace's.
   * Resolves when all of it is there or the client went away; undefined: that is so already, as it is of most.
   */
  wantBody(workspaceId: string): Promise<void> | undefined {
    this.#body?.want(this.#state.kind === 'received', workspaceId);
    return this.#state.kind === 'receiving' ? this.#bodyEnd() : undefined;
  }

  /** The whole body, or why it is refused; null when the client went away. */
  body(): Buffer | RefusedBody | null {
    return this.#state.kind === 'received' && this.#body ? this.#body.bytes() : null;
  }

  /** The body is needed no more: gives its memory back. */
  release(): void {
    this.#body?.release();
  }

  /** Resolves when the client went away, or the answer was sent. */
  async gone(): Promise<void> {
    while (this.#state.kind === 'receiving' || this.#state.kind === 'received') await this.#change();
  }

  /** Sends the answer; does nothing when the client went away. `close` ends the connection after it. */
  async send(answer: Answer, headers: Record<string, string>, close: boolean): Promise<void> {
    if (this.#state.kind === 'receiving') this.#body?.drop();
    if (this.#state.kind === 'receiving') await this.#bodyEnd(); // I7
    if (this.#last) await turn(); // I10
    if (this.#state.kind !== 'received') return; // I3
    const res = this.#res;
    const { body } = answer;
    const closing = close || this.#last || this.#body?.flooded === true;
    this.#enter({ kind: 'answered' });
    this.release();
    // I5
    res.cork(() => {
      res.writeStatus(STATUS_LINES[answer.status] ?? String(answer.status));
      writeHeaders(res, headers);
      if (answer.headers) writeHeaders(res, answer.headers);
      if (body === null) {
        // Only this closes it: it announces a body of no bytes, which is none.
        if (this.#last) return void res.endWithoutBody(0, true); // I10
        if (closing) res.writeHeader('Connection', 'close');
        res.endWithoutBody(); // I8
        return;
      }
      res.writeHeader('Content-Type', answer.contentType ?? 'application/json; charset=utf-8');
      if (this.method === 'HEAD') {
        const length = lengthOf(body);
        if (length !== null) res.writeHeader('Content-Length', String(length));
        if (closing) res.writeHeader('Connection', 'close');
        res.endWithoutBody(); // I8
      } else if (isSmall(body)) res.end(body, closing);
      else if (closing) res.writeHeader('Connection', 'close');
    });
    if (body === null || isSmall(body) || this.method === 'HEAD') return;
    if (isMade(body)) return body.bytes === null ? this.#stream(body, closing) : this.#make(body, body.bytes);
    const bytes = Buffer.from(body);
    await this.#writer(bytes.length)(bytes, 0); // I6
  }

  /** Writes a body as it is made. When that fails, only a cut connection can show the client. */
  async #make({ pieces, hurried }: MadeBody, bytes: number): Promise<void> {
    const write = this.#writer(bytes);
    const looks = hurried && this.#cutWhenSlow();
    let written = 0;
    try {
      for await (const piece of pieces()) {
        await write(piece, written);
        if (this.aborted) return;
        written += piece.length;
      }
      if (written !== bytes) throw new Error(`an answer has ${written} bytes, not ${bytes}`);
    } catch (error) {
      if (!this.aborted && written < bytes) this.#res.close();
      throw error;
    } finally {
      clearInterval(looks);
    }
  }

  /** Looks again and again how much was taken since, until it is told to stop. */
  #cutWhenSlow(): NodeJS.Timeout {
    let before = 0;
    return setInterval(() => {
      if (this.aborted) return;
      const taken = this.#res.getWriteOffset();
      if (taken - before < LIMITS.slow_reader_bytes) this.#res.close();
      before = taken;
    }, LIMITS.slow_reader_ms);
  }

  /** The same for a body whose length nobody knows before its end. */
  async #stream({ pieces, filler = ' ' }: MadeBody, closing: boolean): Promise<void> {
    const res = this.#res;
    const chunk = { taken: true };
    // Once, for all of them: one that is set while it runs, as by a piece that was made already, is lost.
    res.onWritable(() => {
      chunk.taken ||= res.write(filler); // I6
      this.#wake();
      return chunk.taken;
    });
    try {
      for await (const piece of pieces()) {
        if (piece.length > 0 && !this.aborted) await this.#writeChunk(piece, chunk);
        if (this.aborted) return;
      }
    } catch (error) {
      if (!this.aborted) res.close();
      throw error;
    }
    if (!this.aborted) res.cork(() => res.end('', closing));
  }

  /** Resolves when the client has taken the piece, but for what its socket holds, or went away. */
  async #writeChunk(piece: Buffer, chunk: { taken: boolean }): Promise<void> {
    const res = this.#res;
    res.cork(() => {
      chunk.taken = res.write(piece);
    });
    while (!chunk.taken && !this.aborted) await this.#change();
    this.#piecesTaken++;
  }

  /**
   * Writes the pieces of an answer of `total` bytes: each resolves when the client has taken it, which begins at `from`, or went away. Has one
   * handler for all of them: one that is set while it runs, as by a piece that was made already, is lost.
   */
  #writer(total: number): (piece: Buffer, from: number) => Promise<void> {
    const res = this.#res;
    let untaken: { piece: Buffer; from: number } | undefined;
    res.onWritable((offset) => {
      if (!untaken) return true;
      const [taken] = res.tryEnd(untaken.piece.subarray(offset - untaken.from), total);
      if (taken) untaken = undefined;
      this.#piecesTaken++;
      this.#wake();
      return taken;
    });
    return async (piece, from) => {
      if (this.aborted) return; // I3: while the piece was made
      res.cork(() => {
        const [taken] = res.tryEnd(piece, total);
        untaken = taken ? undefined : { piece, from };
      });
      while (untaken && !this.aborted) await this.#change();
    };
  }

  #take(chunk: ArrayBuffer, isLast: boolean): void {
    const body = this.#body;
    if (this.#state.kind !== 'receiving' || !body) return;
    body.take(chunk); // I4
    if (isLast || body.flooded) {
      this.#resume();
      this.#enter({ kind: 'received' });
    } else if (body.full) this.#pause();
  }

  #pause(): void {
    if (!this.#paused) this.#res.pause(); // I9
    this.#paused = true;
  }

  #resume(): void {
    if (this.#paused) this.#res.resume(); // I9
    this.#paused = false;
  }

  #enter(next: State): void {
    checkStep('exchange', STEPS, this.#state.kind, next.kind);
    this.#state = next;
    this.#wake();
  }

  async #bodyEnd(): Promise<void> {
    if (this.#state.kind === 'receiving') this.#resume();
    while (this.#state.kind === 'receiving') await this.#change();
  }

  #change(): Promise<void> {
    return new Promise((resolve) => this.#wakes.push(resolve));
  }

  #wake(): void {
    for (const wake of this.#wakes.splice(0)) wake();
  }
}

function writeHeaders(res: HttpResponse, headers: Record<string, string>): void {
  for (const name in headers) res.writeHeader(name, headers[name] as string);
}

function lengthOf(body: string | Buffer | MadeBody): number | null {
  if (Buffer.isBuffer(body)) return body.length;
  return typeof body === 'string' ? Buffer.byteLength(body) : body.bytes;
}

/** True for what is handed to the socket whole (I6). */
function isSmall(body: Answer['body']): body is string | Buffer {
  return (typeof body === 'string' || Buffer.isBuffer(body)) && body.length < LIMITS.streamed_answer_bytes;
}
