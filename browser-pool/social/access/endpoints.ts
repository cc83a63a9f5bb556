import { Deadline } from '../../../storage/process/deadline.js';
import {
  loggedOut,
  RunFailure,
  refusal,
  restricted,
  unexpectedAnswer,
  upstreamCode,
  upstreamTimeout,
} from '../../failures.js';
import { LIMITS } from '../../limits.js';
import type { ProgramRun } from '../../program.js';
import { isRefusal } from '../site/answers.js';
import type { AnswerOf, EndpointName, RequestOf } from '../site/endpoints.js';
import { fromSite, toSite } from '../site/names.js';
import { type RefusalKind, type Site, withNames } from '../site/site.js';
import { answerText, READABLE_ENCODINGS } from './answer-text.js';
import { cookieLine } from './cookies.js';
import { parsedJson } from './json.js';
import { pageFailure, redirectFailure } from './signed-out.js';
import { SiteConnection } from './site-connection.js';
import { keepCookies, type RequestingRun, type SiteRead, SiteRequests, single } from './site-requests.js';

/** What a run that only reads is needed for. */
type ReadingRun = RequestingRun & Pick<ProgramRun, 'request_ms'>;

/** What a write needs as well. */
type WritingRun = ReadingRun & Pick<ProgramRun, 'boundary' | 'progress'>;

/** The check that an answer, under the service's names, holds all that it should. */
type Check<Name extends EndpointName> = (answer: unknown) => answer is AnswerOf<Name>;

/** What a write gives: its answer, and that as the site gave it. */
interface Written<Answer> {
  answer: Answer;
  original: object;
}

/**
 * The JSON endpoints of the site as a run's session sees them: same cookies and same proxy as its pages, but no page.
 * Requests and answers go by the service's names, and by the site's on the way. The csrf token is read once, when this is
 * opened.
 */
export class Endpoints<Run extends ReadingRun = ReadingRun> {
  readonly #run: Run;
  readonly #site: Site;
  readonly #csrf: string;
  readonly #requests: SiteRequests;

  private constructor(run: Run, site: Site, csrf: string) {
    this.#run = run;
    this.#site = site;
    this.#csrf = csrf;
    this.#requests = new SiteRequests(site, run);
  }

  /** Throws `authentication_failed` when the context holds no session. */
  static async open<Run extends ReadingRun>(run: Run, site: Site): Promise<Endpoints<Run>> {
    const cookies = await run.context.cookies(site.origin);
    const csrf = cookies.find((cookie) => cookie.name === site.csrf.cookie)?.value;
    if (csrf === undefined) throw loggedOut();
    return new Endpoints(run, site, csrf);
  }

  /** Reads an endpoint. Throws `RunFailure` for a refusal and for an answer that is not of the shape. */
  get<Name extends EndpointName>(name: Name, request: RequestOf<Name>, is: Check<Name>): Promise<AnswerOf<Name>> {
    const { path, parameters } = this.#addressed(name, request);
    const address = this.#address(path);
    for (const [name, value] of Object.entries(queryOf(parameters))) address.searchParams.set(name, value);
    return this.#request(name, address, { headers: this.#headers }, is);
  }

  /** Posts what the provider does not act on. */
  post<Name extends EndpointName>(name: Name, request: RequestOf<Name>, is: Check<Name>): Promise<AnswerOf<Name>> {
    const { path, parameters } = this.#addressed(name, request);
    const headers = { ...this.#headers, 'content-type': 'application/json' };
    return this.#request(name, this.#address(path), { method: 'POST', headers, body: JSON.stringify(parameters) }, is);
  }

  /** Posts bytes that nothing shows before a write names them, with headers that describe them. */
  upload<Name extends EndpointName>(
    name: Name,
    bytes: Buffer,
    headers: Record<string, string>,
    is: Check<Name>,
  ): Promise<AnswerOf<Name>> {
    const address = this.#address(this.#site.endpoints[name].path);
    const described = { ...this.#headers, 'content-type': 'application/octet-stream', ...headers };
    return this.#request(name, address, { method: 'POST', headers: described, body: bytes }, is);
  }

  /**
   * Makes the one write of a program, once: opens a connection of its own, passes the boundary, and posts while the permission
   * lasts. Nothing but that last look stands between the boundary and the request.
   */
  async write<Name extends EndpointName>(
    this: Endpoints<WritingRun>,
    name: Name,
    asked: RequestOf<Name>,
    is: Check<Name>,
  ): Promise<Written<AnswerOf<Name>>> {
    const run = this.#run;
    const { path, parameters } = this.#addressed(name, asked);
    const address = this.#address(path);
    const cookies = await run.context.cookies(address.href);
    const request = {
      path,
      headers: {
        ...this.#headers,
        'user-agent': run.userAgent,
        'content-type': 'application/json',
        cookie: cookieLine(cookies),
      },
      body: JSON.stringify(parameters),
    };
    const connection = await SiteConnection.open(this.#site, run.proxy, run.signal, run.request_ms());
    try {
      const permission = await run.boundary();
      const answered = await connection.post(this.#site, request, permission, run);
      keepCookies(run, answered.headers['set-cookie'], address);
      return this.#read(name, { ...answered, address }, is);
    } finally {
      connection.close();
    }
  }

  /** Where a request goes and what it carries, both as the site calls them. */
  #addressed<Name extends EndpointName>(name: Name, request: RequestOf<Name>) {
    const { path, parameters } = this.#site.endpoints[name];
    return {
      path: 'id' in request ? withNames(path, { id: String(request.id) }) : path,
      parameters: toSite(request, parameters),
    };
  }

  #address(path: string): URL {
    return new URL(this.#site.origin + path);
  }

  get #headers(): Record<string, string> {
    return {
      accept: 'application/json',
      'accept-encoding': READABLE_ENCODINGS,
      [this.#site.csrf.header]: this.#csrf,
    };
  }

  async #request<Name extends EndpointName>(
    name: Name,
    address: URL,
    request: SiteRead,
    is: Check<Name>,
  ): Promise<AnswerOf<Name>> {
    const limit = new Deadline(this.#run.request_ms(), upstreamTimeout);
    try {
      const answered = await this.#requests.make(address, request, limit, async ({ statusCode, headers, body }) => ({
        address,
        status: statusCode,
        headers: { location: single(headers.location), 'retry-after': single(headers['retry-after']) },
        text: await answerText(body, single(headers['content-encoding']), LIMITS.read_answer_bytes),
      }));
      return this.#read(name, answered, is).answer; // outside: what is thrown here is not the connection's
    } finally {
      limit.stop();
    }
  }

  /** The answer, if it is of the shape; throws what a refusal, or a page in its place, means. */
  #read<Name extends EndpointName>(name: Name, answered: Answered, is: Check<Name>): Written<AnswerOf<Name>> {
    const { status, text } = answered;
    const original = parsedJson(text);
    const page = original === undefined && pageFailure(this.#site, text, status >= 400);
    if (page) throw page;
    if (status >= 300) throw this.#refused(answered, original);
    const answer = fromSite(original, this.#site.endpoints[name].answer);
    if (!is(answer)) throw unexpectedAnswer('answer');
    return { answer, original: original as object };
  }

  #refused({ address, status, headers }: Answered, answer: unknown): RunFailure {
    if (status < 400) {
      const to = URL.parse(headers.location ?? '', address.href);
      return (to && redirectFailure(this.#site, to, address)) ?? unexpectedAnswer('redirect');
    }
    const kind = refusalKind(this.#site, status, answer);
    const code = refusalCode(this.#site, answer);
    if (kind === 'badRequest') return refusedInput(status, code);
    if (kind === 'accountRestricted') return restricted();
    if (kind !== undefined) return new ProviderRefusal(kind, status, code);
    const { refusals } = this.#site;
    return refusal(status, { retryAfter: headers['retry-after'], code, refusals }) ?? unexpectedAnswer('status');
  }
}

/** An answer of the site, however it came. */
interface Answered {
  /** Of the request. */
  address: URL;
  status: number;
  headers: { location?: string | undefined; 'retry-after'?: string | undefined };
  text: string;
}

/** Parameters as a query: texts, numbers and booleans as they are, lists joined by commas. */
function queryOf(parameters: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(Object.entries(parameters).map(([name, value]) => [name, String(value)]));
}

/** Which of the refusals that programs know this answer is. */
export function refusalKind(site: Site, status: number, answer: unknown): RefusalKind | undefined {
  const code = refusalCode(site, answer);
  const { refusalCodes } = site;
  const kinds = Object.keys(refusalCodes) as RefusalKind[];
  return kinds.find((kind) => refusalCodes[kind].status === status && refusalCodes[kind].code === code);
}

/** What the site calls the refusal that this answer is; undefined where it is none in its form. */
function refusalCode({ refusal }: Site, answer: unknown): string | undefined {
  const said = fromSite(answer, refusal);
  return isRefusal(said) ? said.error.code : undefined;
}

/** The provider does not know a value of the input (a cursor it never gave, a filter's value it does not have). */
export function refusedInput(status: number, code?: string): RunFailure {
  return new RunFailure(
    'validation_error',
    { reason: 'refused_by_provider', upstream_status: status, ...upstreamCode(code) },
    { definite: true },
  );
}

/** The provider understood and refused. */
export class ProviderRefusal extends RunFailure {
  constructor(
    readonly kind: Exclude<RefusalKind, 'badRequest' | 'accountRestricted'>,
    readonly status: number,
    readonly word?: string,
  ) {
    super('upstream_error', { upstream_status: status, ...upstreamCode(word) }, { definite: true });
  }
}
