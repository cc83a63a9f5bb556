import type { Dispatcher } from 'undici';
import { checkStep, type Steps } from '../../../storage/process/steps.js';
import { LIMITS } from '../limits.js';
import { type AttemptError, classify } from './attempt-error.js';
import type { CallbackTarget } from './callback-guard.js';

/** `statusCode` is null when no answer came; `error` is null when the answer was read as far as it counts. */
export interface Answer {
  statusCode: number | null;
  error: AttemptError | null;
  /** Of the answer's body, as far as it was to be kept. */
  body: Buffer;
}

type ExchangeState =
  | { kind: 'connecting' }
  | { kind: 'sent'; controller: Dispatcher.DispatchController }
  | { kind: 'over' };

type Kind = ExchangeState['kind'];

const STEPS: Steps<Kind> = { connecting: ['sent', 'over'], sent: ['sent', 'over'], over: [] };

/**
 * One request and its answer, read as raw bytes that are not kept but for the first `keep_bytes`.
 *
 *     connecting ──a connection is free──▶ sent ──answered, failed, stopped, too long──▶ over
 *         └──failed, stopped──▶ over
 *
 * I1 it settles once: what comes when it is over is dropped;
 * I2 nothing is sent once it is over.
 */
export class CallbackExchange implements Dispatcher.DispatchHandler {
  readonly #answered = Promise.withResolvers<Answer>();
  #state: ExchangeState = { kind: 'connecting' };
  #statusCode: number | null = null;
  readonly #keep_bytes: number;
  readonly #kept: Buffer[] = [];
  #read_bytes = 0;

  constructor(keep_bytes = 0) {
    this.#keep_bytes = keep_bytes;
  }

  /** Sends the request over one of the pool's connections. Never rejects. */
  run(pool: Dispatcher, { url }: CallbackTarget, headers: Record<string, string>, body: Buffer): Promise<Answer> {
    pool.dispatch({ path: url.pathname, method: 'POST', headers, body, headersTimeout: 0, bodyTimeout: 0 }, this);
    return this.#answered.promise;
  }

  /** Ends the exchange now and closes its connection; with an error, that is why the attempt failed. */
  stop(error: AttemptError | null): void {
    const before = this.#state;
    this.#settle(error);
    if (before.kind === 'sent') before.controller.abort(new Error('the attempt is over'));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#state.kind === 'over')
      controller.abort(new Error('the attempt is over')); // I2
    else this.#enter({ kind: 'sent', controller });
  }

  onResponseStart(_controller: Dispatcher.DispatchController, statusCode: number): void {
    // An informational status (102, 103) is no answer.
    if (statusCode >= 200) this.#statusCode = statusCode;
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const missing_bytes = this.#keep_bytes - this.#read_bytes;
    if (missing_bytes > 0) this.#kept.push(Buffer.from(chunk.subarray(0, missing_bytes)));
    this.#read_bytes += chunk.length;
    // The status is known and decides; the rest of the body is of no use.
    if (this.#read_bytes > LIMITS.answer_bytes) this.stop(null);
  }

  onResponseEnd(): void {
    this.#settle(null);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.stop(classify(error));
  }

  #settle(error: AttemptError | null): void {
    if (this.#state.kind === 'over') return; // I1
    this.#enter({ kind: 'over' });
    this.#answered.resolve({ statusCode: this.#statusCode, error, body: Buffer.concat(this.#kept) });
  }

  #enter(next: ExchangeState): void {
    checkStep('callback exchange', STEPS, this.#state.kind, next.kind);
    this.#state = next;
  }
}
