import type { FieldError } from '../../../../storage/model/errors.js';
import { refusalWords } from './words.js';

/** Why a request was refused; `unreachable` where no answer came. */
export class ApiError extends Error {
  constructor(
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

/** What the console asks the public API, with the session in the cookie (HTTP-24). Each throws `ApiError`. */
export class Api {
  /** `workspace`: which one an operator works in. `heard`: is told of each request whether an answer came, and of a session that has ended. */
  constructor(
    readonly workspace: string | null,
    readonly heard: (what: 'answer' | 'nothing' | 'ended') => void,
  ) {}

  /** `path` begins with a slash, and is below where the console is. */
  get<T>(path: string): Promise<T> {
    return this.send<T>('GET', path);
  }

  /** The same, byte for byte. */
  async text(path: string): Promise<string> {
    return (await this.#answer('GET', path)).text();
  }

  async send<T>(method: Method, path: string, body?: object, headers: Headers = {}): Promise<T> {
    const answer = await this.#answer(method, path, body, headers);
    return (await answer.json().catch(() => undefined)) as T;
  }

  /** One that is no refusal. */
  async #answer(method: Method, path: string, body?: object, headers: Headers = {}): Promise<Response> {
    const answer = await fetch(`.${path}`, {
      method,
      headers: {
        'Console-Request': '1',
        ...(this.workspace !== null && { 'Console-Workspace': this.workspace }),
        ...(body && { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body && { body: JSON.stringify(body) }),
    }).catch(() => {
      this.heard('nothing');
      throw new ApiError(0, 'unreachable', refusalWords('unreachable'), []);
    });
    this.heard('answer');
    if (answer.ok) return answer;
    const { code = 'unexpected', message, errors = [] } = (await answer.json().catch(() => ({}))) as Refusal;
    if (answer.status === 401) this.heard('ended');
    throw new ApiError(answer.status, code, refusalWords(code, message), errors);
  }
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
type Headers = Readonly<Record<string, string>>;

interface Refusal {
  code?: string;
  message?: string;
  errors?: FieldError[];
}
