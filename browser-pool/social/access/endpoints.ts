import { loggedOut, proxyTrouble, RunFailure, refusal, restricted, unexpectedAnswer } from '../../failures.js';
import type { ProgramRun } from '../../program.js';
import { isRefusal } from '../site/answers.js';
import type { Site } from '../site/site.js';
import { setCookies } from './cookies.js';
import { SiteConnection } from './site-connection.js';

/** What a run that only reads is needed for. */
type ReadingRun = Pick<ProgramRun, 'context' | 'request_ms'>;

/** What a write needs as well: its connection is not the browser's. */
type WritingRun = ReadingRun & Pick<ProgramRun, 'proxy' | 'signal' | 'userAgent' | 'boundary'>;

/** Query of a JSON endpoint; what is undefined is left out. */
export type Query = Record<string, string | number | undefined>;

/**
 * The JSON endpoints of the site as a run's session sees them: same cookies and same proxy as its pages, but no page.
 * The csrf token is read once, when this is opened.
 */
export class Endpoints<Run extends ReadingRun = ReadingRun> {
  readonly #run: Run;
  readonly #site: Site;
  readonly #csrf: string;

  private constructor(run: Run, site: Site, csrf: string) {
    this.#run = run;
    this.#site = site;
    this.#csrf = csrf;
  }

  /** Throws `authentication_failed` when the context holds no session. */
  static async open<Run extends ReadingRun>(run: Run, site: Site): Promise<Endpoints<Run>> {
    const cookies = await run.context.cookies(site.origin);
    const csrf = cookies.find((cookie) => cookie.name === site.csrf.cookie)?.value;
    if (csrf === undefined) throw loggedOut();
    return new Endpoints(run, site, csrf);
  }

  /** Reads an endpoint. Throws `RunFailure` for a refusal and for an answer that is not of the shape. */
  get<Answer>(path: string, query: Query, is: (answer: unknown) => answer is Answer): Promise<Answer> {
    const params = Object.entries(query).filter((entry): entry is [string, string | number] => entry[1] !== undefined);
    return this.#request(path, { method: 'GET', params: Object.fromEntries(params) }, is);
  }

  /** Posts what the provider does not act on. */
  post<Answer>(path: string, body: object, is: (answer: unknown) => answer is Answer): Promise<Answer> {
    return this.#request(path, { method: 'POST', data: body }, is);
  }

  /** Posts bytes that nothing shows before a write names them, with headers that describe them. */
  upload<Answer>(
    path: string,
    bytes: Buffer,
    headers: Record<string, string>,
    is: (answer: unknown) => answer is Answer,
  ): Promise<Answer> {
    return this.#request(path, { method: 'POST', data: bytes, headers }, is);
  }

  /**
   * Makes the one write of a program, once: opens a connection of its own, passes the boundary, and posts while the permission
   * lasts. Nothing but that last look stands between the boundary and the request.
   */
  async write<Answer>(
    this: Endpoints<WritingRun>,
    path: string,
    body: object,
    is: (answer: unknown) => answer is Answer,
  ): Promise<Answer> {
    const run = this.#run;
    const address = new URL(this.#site.origin + path);
    const cookies = await run.context.cookies(address.href);
    const request = {
      path,
      headers: {
        ...this.#headers,
        'user-agent': run.userAgent,
        'accept-encoding': 'gzip, deflate, br',
        'content-type': 'application/json',
        cookie: cookies.map(({ name, value }) => `${name}=${value}`).join('; '),
      },
      body: JSON.stringify(body),
    };
    const connection = await SiteConnection.open(this.#site, run.proxy, run.signal, run.request_ms());
    try {
      const permission = await run.boundary();
      const answered = await connection.post(this.#site, request, permission, run.request_ms());
      keepCookies(run, answered.headers['set-cookie'] ?? [], address);
      return this.#read(answered, is);
    } finally {
      connection.close();
    }
  }

  get #headers(): Record<string, string> {
    return { accept: 'application/json', [this.#site.csrf.header]: this.#csrf };
  }

  async #request<Answer>(
    path: string,
    request: EndpointRequest,
    is: (answer: unknown) => answer is Answer,
  ): Promise<Answer> {
    const response = await this.#run.context.request.fetch(this.#site.origin + path, {
      ...request,
      headers: { ...this.#headers, ...request.headers },
      maxRedirects: 0,
      timeout: this.#run.request_ms(),
    });
    try {
      const text = await response.text();
      const status = response.status();
      // The proxy refused to connect: what was read is its own answer, given before any TLS.
      if (status >= 300 && this.#site.origin.startsWith('https:') && (await response.securityDetails()) === null) {
        throw proxyTrouble('refused');
      }
      return this.#read({ status, headers: response.headers(), text }, is);
    } finally {
      await response.dispose();
    }
  }

  /** The answer, if it is of the shape; throws what a refusal means. */
  #read<Answer>({ status, headers, text }: Answered, is: (answer: unknown) => answer is Answer): Answer {
    const answer = parsed(text);
    if (status >= 300) throw this.#refused(status, headers, answer);
    if (!is(answer)) throw unexpectedAnswer('answer');
    return answer;
  }

  #refused(status: number, headers: Answered['headers'], answer: unknown): RunFailure {
    if (status < 400) {
      const address = URL.parse(headers.location ?? '', this.#site.origin);
      return (address && classifyRedirect(this.#site, address)) ?? unexpectedAnswer('redirect');
    }
    const code = isRefusal(answer) ? answer.error.code : undefined;
    if (status === 400 && code === 'bad_request') return refusedInput(status);
    if (status === 403 && code === 'account_restricted') return restricted();
    if ((status === 403 || status === 422) && code !== undefined) return new ProviderRefusal(code, status);
    return refusal(status, headers['retry-after']) ?? unexpectedAnswer('status');
  }
}

/** An answer of the site, however it came. */
interface Answered {
  status: number;
  headers: { location?: string | undefined; 'retry-after'?: string | undefined };
  text: string;
}

/**
 * Hands the context what an answer outside the browser set. Not waited for, because the provider has acted: calls of a context
 * keep their order, so its next request carries the cookies.
 */
function keepCookies({ context }: ReadingRun, lines: string[], address: URL): void {
  if (lines.length > 0) void context.addCookies(setCookies(lines, address)).catch(() => {});
}

interface EndpointRequest {
  method: 'GET' | 'POST';
  params?: Record<string, string | number>;
  data?: object;
  headers?: Record<string, string>;
}

/** The failure that a redirect to this address stands for; null for an address like any other. */
export function classifyRedirect(site: Site, { origin, pathname }: URL): RunFailure | null {
  if (origin !== site.origin) return null;
  if (pathname === site.paths.login) return loggedOut();
  return pathname === site.paths.restricted ? restricted() : null;
}

/** The provider does not know a value of the input (a cursor it never gave, a filter's value it does not have). */
export function refusedInput(status: number): RunFailure {
  return new RunFailure(
    'validation_error',
    { reason: 'refused_by_provider', upstream_status: status },
    { definite: true },
  );
}

/** The provider understood and refused; `reason` is its own code. */
export class ProviderRefusal extends RunFailure {
  constructor(
    readonly reason: string,
    status: number,
  ) {
    super('upstream_error', { upstream_status: status }, { definite: true });
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
