import type { LinkProgressJson, OpenedLinkJson } from '../../../routes/connections/reconnect.js';

/** What stands behind the `#` of the address. It is taken out of it, so that neither history nor a screenshot keeps it. */
export function takeToken(): string {
  const token = location.hash.slice(1) || (sessionStorage.getItem(TOKEN) ?? '');
  sessionStorage.setItem(TOKEN, token);
  if (location.hash !== '') history.replaceState(null, '', location.pathname + location.search);
  return token;
}

const TOKEN = 'reconnect-token';
const PAGE = 'reconnect-page';

/** What this page has made up: the service goes on with it alone, once it has signed in. It outlives a reload, and not its tab. */
function pageSecret(token: string): string {
  const [ofToken, kept] = (sessionStorage.getItem(PAGE) ?? '').split(' ');
  if (ofToken === token && kept) return kept;
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  const made = btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
  sessionStorage.setItem(PAGE, `${token} ${made}`);
  return made;
}

/** A refusal of the service, by its code; `unreachable` where none came. */
export class Refusal extends Error {
  constructor(readonly code: string) {
    super(code);
  }
}

/** What the service answers about one link. Each throws `Refusal`. */
export class Link {
  readonly #token: string;
  readonly #page: string;

  constructor(token: string) {
    this.#token = token;
    this.#page = pageSecret(token);
  }

  open(): Promise<OpenedLinkJson> {
    return post('open', { token: this.#token });
  }

  progress(): Promise<LinkProgressJson> {
    return this.#own('progress', {});
  }

  login(input: { password?: string }): Promise<LinkProgressJson> {
    return this.#own('login', input);
  }

  code(input: { challenge_id: string; code: string }): Promise<void> {
    return this.#own('code', input);
  }

  #own<T>(step: string, input: object): Promise<T> {
    return post(step, { token: this.#token, page: this.#page, ...input });
  }
}

async function post<T>(step: string, body: object): Promise<T> {
  const headers = { 'Content-Type': 'application/json' };
  const answer = await fetch(`reconnect/${step}`, { method: 'POST', headers, body: JSON.stringify(body) }).catch(() => {
    throw new Refusal('unreachable');
  });
  const told = (await answer.json().catch(() => ({}))) as { code?: string };
  if (answer.ok) return told as T;
  throw new Refusal(told.code ?? (answer.status >= 500 ? 'unreachable' : 'unexpected'));
}
