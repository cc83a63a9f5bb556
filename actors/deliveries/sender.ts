import type { Dispatcher } from 'undici';
import { type AttemptError, classify } from './attempt-error.js';
import { type CallbackPolicy, type CallbackTarget, resolveCallback } from './callback-guard.js';
import { ANSWER_bytes, ATTEMPT_DEADLINE_ms } from './limits.js';
import { OriginPools } from './origin-pools.js';

/** How an attempt ended. `status_code` is null when no answer came, `duration_ms` covers all of it. */
export type AttemptResult =
  | { outcome: 'delivered'; status_code: number; error: null; duration_ms: number }
  | { outcome: 'failed'; status_code: number | null; error: AttemptError; duration_ms: number };

export interface SenderOptions {
  policy: CallbackPolicy;
  /** PEM certificates trusted besides the machine's own (`CALLBACK_CA_FILE`). */
  ca?: string | undefined;
  /** Of a whole attempt; `ATTEMPT_DEADLINE_ms` unless told. */
  deadline_ms?: number | undefined;
}

/**
 * Makes attempts (contract: "Events"; EVT-2, EVT-3). One attempt is one POST: the host is resolved and checked, the
 * connection leads to what was checked, TLS proves the host, nothing is retried and no redirect followed. A deadline
 * covers all of it, the lookup included, so no receiver holds its slot for longer, whatever it does with its bytes.
 */
export class Sender {
  readonly #pools: OriginPools;
  readonly #deadline_ms: number;

  constructor(private readonly options: SenderOptions) {
    this.#deadline_ms = options.deadline_ms ?? ATTEMPT_DEADLINE_ms;
    this.#pools = new OriginPools(options.ca, this.#deadline_ms);
  }

  /** Sends `body` to the callback. Never rejects, and answers by the deadline. */
  async send(callbackUrl: string, headers: Record<string, string>, body: Buffer): Promise<AttemptResult> {
    const startedAt = performance.now();
    let timer: NodeJS.Timeout | undefined;
    let expire = (): void => {};
    const expired = new Promise<'expired'>((resolve) => {
      timer = setTimeout(() => {
        resolve('expired');
        expire();
      }, this.#deadline_ms);
    });
    const end = (status_code: number | null, error: AttemptError | null): AttemptResult => {
      const duration_ms = performance.now() - startedAt;
      if (error !== null) return { outcome: 'failed', status_code, error, duration_ms };
      return { outcome: 'delivered', status_code: status_code as number, error, duration_ms };
    };
    try {
      const resolved = await Promise.race([resolveCallback(callbackUrl, this.options.policy), expired]);
      if (resolved === 'expired') return end(null, 'timeout');
      if (!resolved.ok) return end(null, resolved.reason === 'unresolvable' ? 'dns' : 'blocked');
      const exchange = new Exchange();
      expire = () => exchange.stop('timeout');
      const { statusCode, error } = await exchange.run(
        this.#pools.for(resolved.target),
        resolved.target,
        headers,
        body,
      );
      if (error) return end(statusCode, error);
      return end(statusCode, statusCode !== null && statusCode >= 200 && statusCode < 300 ? null : 'status');
    } catch (error) {
      return end(null, classify(error));
    } finally {
      clearTimeout(timer);
    }
  }

  /** Closes every connection. Attempts in flight end as failed. */
  destroy(): Promise<void> {
    return this.#pools.destroy();
  }
}

interface Answer {
  statusCode: number | null;
  error: AttemptError | null;
}

/** One request and its answer, read as raw bytes that nobody keeps. Settles once; what comes later is dropped. */
class Exchange implements Dispatcher.DispatchHandler {
  #controller: Dispatcher.DispatchController | undefined;
  #statusCode: number | null = null;
  #read_bytes = 0;
  #over = false;
  #settle: (answer: Answer) => void = () => {};

  run(pool: Dispatcher, { url }: CallbackTarget, headers: Record<string, string>, body: Buffer): Promise<Answer> {
    return new Promise((resolve) => {
      this.#settle = resolve;
      pool.dispatch({ path: url.pathname, method: 'POST', headers, body, headersTimeout: 0, bodyTimeout: 0 }, this);
    });
  }

  /** Ends the exchange now and closes its connection; with an error, the attempt failed with it. */
  stop(error: AttemptError | null): void {
    if (this.#over) return;
    this.#over = true;
    this.#settle({ statusCode: this.#statusCode, error });
    this.#controller?.abort(new Error('the attempt is over'));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // The deadline passed while the connection was being made: nothing is sent any more.
    if (this.#over) controller.abort(new Error('the attempt is over'));
  }

  onResponseStart(_controller: Dispatcher.DispatchController, statusCode: number): void {
    // What comes before an answer (102, 103) is none.
    if (statusCode >= 200) this.#statusCode = statusCode;
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#read_bytes += chunk.length;
    // Enough was read. The status has been said, so it decides; the connection is of no further use.
    if (this.#read_bytes > ANSWER_bytes) this.stop(null);
  }

  onResponseEnd(): void {
    if (this.#over) return;
    this.#over = true;
    this.#settle({ statusCode: this.#statusCode, error: null });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.stop(classify(error));
  }
}
