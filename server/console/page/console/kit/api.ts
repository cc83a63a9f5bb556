import type { FieldError } from '../../../../../storage/model/errors.js';
import { refusalWords } from './words.js';

/** Why a request was refused. Where no answer came, `unreachable`; of a write `unanswered`, because it may be done all the same. */
export class ApiError extends Error {
  constructor(
    /** 0 where no answer came. */
    readonly status: number,
    readonly code: string,
    /** In words, for people. */
    message: string,
    /** Where the request is wrong. */
    readonly details: FieldError[],
  ) {
    super(message);
  }
}

/**
 * What came of a request: an `answer`, a `failure` (5xx, of the service or of what stands before it), `nothing`, a session that has `ended`.
 * After it `refused`, where it was a write that did not succeed: it may be done, or have found other things than the page shows.
 */
export type Heard = 'answer' | 'failure' | 'nothing' | 'ended' | 'refused';

/** How long an answer may take, with its body: longer than the service waits for anything. Past it the answer counts as lost. */
const ANSWER_ms = 30_000;

/** What the console asks the public API, with the session in the cookie (HTTP-24). Each throws `ApiError`. */
export class Api {
  /** `workspace`: which one an operator works in. */
  constructor(
    readonly workspace: string | null,
    readonly heard: (what: Heard) => void,
  ) {}

  /** `path` begins with a slash, and is below where the console is. `signal`: when nobody waits for it any more. */
  get<T>(path: string, signal?: AbortSignal): Promise<T> {
    return this.#ask({ method: 'GET', path, signal }, (answer) => answer.json());
  }

  /** The same, byte for byte. */
  text(path: string): Promise<string> {
    return this.#ask({ method: 'GET', path }, (answer) => answer.text());
  }

  async send<T>(method: Method, path: string, body?: object, headers?: Headers): Promise<T> {
    try {
      return await this.#ask<T>({ method, path, body, headers }, async (answer) =>
        answer.status === 204 ? undefined : answer.json(),
      );
    } catch (error) {
      this.heard('refused');
      throw error;
    }
  }

  /** An answer counts when it was read to its end. */
  async #ask<T>(asked: Asked, read: (answer: Response) => Promise<T>): Promise<T> {
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), ANSWER_ms);
    const { signal } = asked;
    try {
      const answer = await this.#fetch(asked, signal ? AbortSignal.any([signal, late.signal]) : late.signal);
      if (!answer.ok) throw await this.#refusal(asked, answer);
      const made = await read(answer);
      this.heard('answer');
      return made;
    } catch (error) {
      if (error instanceof ApiError) throw error;
      if (!signal?.aborted) this.heard('nothing');
      throw lost(asked);
    } finally {
      clearTimeout(timer);
    }
  }

  #fetch({ method, path, body, headers }: Asked, signal: AbortSignal): Promise<Response> {
    return fetch(`.${path}`, {
      method,
      headers: {
        'Console-Request': '1',
        ...(this.workspace !== null && { 'Console-Workspace': this.workspace }),
        ...(body && { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body && { body: JSON.stringify(body) }),
      signal,
    });
  }

  async #refusal(asked: Asked, answer: Response): Promise<ApiError> {
    const { code, message, errors = [] } = (await answer.json().catch(() => ({}))) as Refusal;
    const failed = answer.status >= 500;
    this.heard(failed ? 'failure' : 'answer');
    if (answer.status === 401) this.heard('ended');
    if (failed && code === undefined) return lost(asked); // of a proxy, which knows nothing of what the service did
    return new ApiError(answer.status, code ?? 'unexpected', refusalWords(code ?? 'unexpected', message), errors);
  }
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
type Headers = Readonly<Record<string, string>>;

interface Asked {
  method: Method;
  path: string;
  body?: object | undefined;
  headers?: Headers | undefined;
  signal?: AbortSignal | undefined;
}

interface Refusal {
  code?: string;
  message?: string;
  errors?: FieldError[];
}

/** A read, and a write that has a key, may simply be tried again. */
function lost({ method, headers }: Asked): ApiError {
  const code = method === 'GET' || headers?.['Idempotency-Key'] !== undefined ? 'unreachable' : 'unanswered';
  return new ApiError(0, code, refusalWords(code), []);
}
