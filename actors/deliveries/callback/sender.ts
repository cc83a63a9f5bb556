import { Deadline } from '../../../storage/process/deadline.js';
import { LIMITS } from '../limits.js';
import { type AttemptError, classify } from './attempt-error.js';
import { type Answer, CallbackExchange } from './callback-exchange.js';
import { type CallbackPolicy, type CallbackRefusal, resolveCallback } from './callback-guard.js';
import { OriginPools } from './origin-pools.js';

/** How an attempt ended. `status_code` is null when no answer came, `duration_ms` covers all of it. */
export type AttemptResult =
  | { outcome: 'delivered'; status_code: number; error: null; duration_ms: number }
  | { outcome: 'failed'; status_code: number | null; error: AttemptError; duration_ms: number };

export interface SenderOptions {
  policy: CallbackPolicy;
  /** PEM certificates trusted besides the machine's own (`CALLBACK_CA_FILE`). */
  ca?: string | undefined;
  /** Of a whole attempt; `attempt_ms` by default. */
  deadline_ms?: number | undefined;
}

/** The class of an attempt whose callback was refused before any connection. */
const REFUSAL_ERRORS: Record<CallbackRefusal, AttemptError> = {
  invalid: 'blocked',
  not_https: 'blocked',
  userinfo: 'blocked',
  query: 'blocked',
  fragment: 'blocked',
  unresolvable: 'dns',
  not_public: 'blocked',
  port: 'blocked',
};

/**
 * Sends callbacks (contract: "Events"; EVT-2, EVT-3). One attempt is one POST: the host is resolved and checked, the
 * connection leads to what was checked, TLS proves the host, nothing is retried and no redirect followed. A deadline
 * covers all of it, the lookup included, so no receiver holds its slot for longer, whatever it does with its bytes.
 */
export class Sender {
  readonly #policy: CallbackPolicy;
  readonly #ca: string | undefined;
  /** Opened by the first attempt. */
  #pools: Promise<OriginPools> | undefined;
  readonly #deadline_ms: number;

  constructor({ policy, ca, deadline_ms = LIMITS.attempt_ms }: SenderOptions) {
    this.#policy = policy;
    this.#deadline_ms = deadline_ms;
    this.#ca = ca;
  }

  /** Sends `body` to the callback. Never rejects, and resolves by the deadline. */
  async send(callbackUrl: string, headers: Record<string, string>, body: Buffer): Promise<AttemptResult> {
    const startedAt = performance.now();
    const answer = await this.#exchange(callbackUrl, headers, body);
    return resultOf(answer, performance.now() - startedAt);
  }

  /** Sends `body`; gives that of a 2xx answer, the first `keep_bytes` of it, else undefined. Never rejects, and resolves by the deadline. */
  async ask(
    callbackUrl: string,
    headers: Record<string, string>,
    body: Buffer,
    keep_bytes: number,
  ): Promise<Buffer | undefined> {
    const answer = await this.#exchange(callbackUrl, headers, body, keep_bytes);
    return resultOf(answer, 0).outcome === 'delivered' ? answer.body : undefined;
  }

  /** Closes every connection. Attempts in flight end as failed. */
  async destroy(): Promise<void> {
    const pools = await this.#pools?.catch(() => undefined);
    await pools?.destroy();
  }

  #opened(): Promise<OriginPools> {
    this.#pools ??= OriginPools.open(this.#ca, this.#deadline_ms).catch((error) => {
      this.#pools = undefined; // the next attempt tries again, when there are files to be opened, say
      throw error;
    });
    return this.#pools;
  }

  async #exchange(callbackUrl: string, headers: Record<string, string>, body: Buffer, keep_bytes = 0): Promise<Answer> {
    const exchange = new CallbackExchange(keep_bytes);
    const deadline = new Deadline(this.#deadline_ms);
    deadline.signal.addEventListener('abort', () => exchange.stop('timeout'));
    try {
      const resolved = await deadline.race(resolveCallback(callbackUrl, this.#policy));
      if (!resolved.ok) return noAnswer(REFUSAL_ERRORS[resolved.reason]);
      const { target } = resolved;
      const pools = await this.#opened();
      return await exchange.run(pools.for(target), target, headers, body);
    } catch (error) {
      return noAnswer(deadline.signal.aborted ? 'timeout' : classify(error));
    } finally {
      deadline.stop();
    }
  }
}

const noAnswer = (error: AttemptError): Answer => ({ statusCode: null, error, body: Buffer.alloc(0) });

/** Delivered is a 2xx answer and nothing else. */
function resultOf({ statusCode: status_code, error }: Omit<Answer, 'body'>, duration_ms: number): AttemptResult {
  if (error !== null) return { outcome: 'failed', status_code, error, duration_ms };
  if (status_code === null || status_code < 200 || status_code > 299) {
    return { outcome: 'failed', status_code, error: 'status', duration_ms };
  }
  return { outcome: 'delivered', status_code, error: null, duration_ms };
}
