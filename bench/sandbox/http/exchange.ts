import type { IValidation } from 'typia';
import type { Account } from '../state/accounts.js';
import type { Session } from '../state/sessions.js';
import type { Answer } from './answer.js';
import { badRequest } from './answer.js';
import type { Dialect, Received } from './dialect.js';
import { Query } from './query.js';

/** One request on its way through the site. */
export class Exchange {
  readonly method: string;
  readonly path: string;
  readonly body: Buffer;
  readonly query: Query;
  readonly cookies: ReadonlyMap<string, string>;
  /** `Set-Cookie` lines of the answer. */
  readonly setCookies: string[] = [];
  /** The parts of the path that its route names. */
  params: readonly string[] = [];
  /** Live session of this request; null when signed out. */
  session: Session | null = null;
  /** Whose request it is: the session's account, or the one that is about to sign in. */
  account: Account | null = null;

  constructor(
    readonly request: Received,
    readonly region: string,
    /** Of the visitor: the answer is in its words. */
    readonly dialect: Dialect,
  ) {
    const url = new URL(request.url, 'https://site.invalid');
    this.method = request.method;
    this.body = request.body;
    this.path = url.pathname;
    this.query = new Query(url.searchParams);
    this.cookies = cookiesOf(request.headers.cookie ?? '');
  }

  /** Without the port, in lower case. */
  get host(): string {
    return (this.request.headers.host ?? '').toLowerCase().replace(/:443$/, '');
  }

  /** Path and query as they came. */
  get target(): string {
    return this.request.url;
  }

  /** A posted form. */
  get form(): URLSearchParams {
    return new URLSearchParams(this.body.toString('utf8'));
  }

  /** The body as JSON, or a 400 that names the first thing wrong with it. */
  json<T>(validate: (input: unknown) => IValidation<T>): T {
    let parsed: unknown;
    try {
      parsed = JSON.parse(this.body.toString('utf8'));
    } catch {
      throw badRequest('The body is not JSON.');
    }
    const result = validate(parsed);
    if (result.success) return result.data;
    const [first] = result.errors;
    throw badRequest(`${first?.path ?? '$input'} is not ${first?.expected ?? 'valid'}.`);
  }

  /** The account behind the session; only for routes that need one. */
  get viewer(): Account {
    if (this.account === null || this.session === null) throw new Error('The route does not ask for a session.');
    return this.account;
  }
}

/** One page or endpoint. */
export interface Route {
  method: 'GET' | 'POST';
  /** Segments that begin with a colon match anything but a slash; with two colons, slashes too. */
  path: string;
  /** `page` and `api` need a session and answer its absence each in its own way; `open` does not. */
  access: 'open' | 'page' | 'api';
  /** Names of the capabilities this serves; a fault is aimed at one. */
  capabilities: readonly string[] | ((exchange: Exchange) => readonly string[]);
  /** The account of a request without a session, where the request names it. */
  account?: (exchange: Exchange) => Account | null;
  answer: (exchange: Exchange) => Answer;
}

function cookiesOf(header: string): Map<string, string> {
  const cookies = new Map<string, string>();
  for (const part of header.split(';')) {
    const equals = part.indexOf('=');
    if (equals > 0) cookies.set(part.slice(0, equals).trim(), part.slice(equals + 1).trim());
  }
  return cookies;
}
