import type { APIResponse } from 'playwright';
import { loggedOut, proxyTrouble, RunFailure, refusal, restricted, unexpectedAnswer } from '../../failures.js';
import type { ProgramRun } from '../../program.js';
import { isRefusal } from '../site/answers.js';
import type { Site } from '../site/site.js';

type Run = Pick<ProgramRun, 'context' | 'request_ms'>;

/** Query of a JSON endpoint; what is undefined is left out. */
export type Query = Record<string, string | number | undefined>;

/**
 * The JSON endpoints of the site as a run's session sees them: same cookies and same proxy as its pages, but no page.
 * The csrf token is read once, when this is opened, so that nothing but the request itself stands behind a boundary.
 */
export class Endpoints {
  readonly #run: Run;
  readonly #site: Site;
  readonly #csrf: string;

  private constructor(run: Run, site: Site, csrf: string) {
    this.#run = run;
    this.#site = site;
    this.#csrf = csrf;
  }

  /** Throws `authentication_failed` when the context holds no session. */
  static async open(run: Run, site: Site): Promise<Endpoints> {
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

  /** Posts once; never repeated, whatever happens to the answer. */
  post<Answer>(path: string, body: object, is: (answer: unknown) => answer is Answer): Promise<Answer> {
    return this.#request(path, { method: 'POST', data: body }, is);
  }

  /** Posts bytes once, with headers that describe them. */
  upload<Answer>(
    path: string,
    bytes: Buffer,
    headers: Record<string, string>,
    is: (answer: unknown) => answer is Answer,
  ): Promise<Answer> {
    return this.#request(path, { method: 'POST', data: bytes, headers }, is);
  }

  async #request<Answer>(
    path: string,
    request: EndpointRequest,
    is: (answer: unknown) => answer is Answer,
  ): Promise<Answer> {
    const response = await this.#run.context.request.fetch(this.#site.origin + path, {
      ...request,
      headers: { accept: 'application/json', [this.#site.csrf.header]: this.#csrf, ...request.headers },
      maxRedirects: 0,
      timeout: this.#run.request_ms(),
    });
    try {
      const answer = parsed(await response.text());
      await this.#refuse(response, answer);
      if (!is(answer)) throw unexpectedAnswer('answer');
      return answer;
    } finally {
      await response.dispose();
    }
  }

  async #refuse(response: APIResponse, answer: unknown): Promise<void> {
    const status = response.status();
    if (status < 300) return;
    // The proxy refused to connect: what was read is its own answer, given before any TLS.
    if ((await response.securityDetails()) === null && this.#site.origin.startsWith('https:')) {
      throw proxyTrouble('refused');
    }
    if (status < 400) {
      const address = URL.parse(response.headers().location ?? '', this.#site.origin);
      throw (address && classifyRedirect(this.#site, address)) ?? unexpectedAnswer('redirect');
    }
    const code = isRefusal(answer) ? answer.error.code : undefined;
    if (status === 400 && code === 'bad_request') throw refusedInput(status);
    if (status === 403 && code === 'account_restricted') throw restricted();
    if ((status === 403 || status === 422) && code !== undefined) throw new ProviderRefusal(code, status);
    throw refusal(status, response.headers()['retry-after']) ?? unexpectedAnswer('status');
  }
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
