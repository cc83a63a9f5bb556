import typia from 'typia';

/** What is read of a stored session. */
interface StoredSession {
  cookies: StoredCookie[];
}

interface StoredCookie {
  name: string;
  value: string;
  /** With a dot in front it also goes to the hosts below. */
  domain: string;
  path: string;
  /** Unix seconds; -1 for as long as the session lives. */
  expires: number;
  secure: boolean;
}

const parseSession = typia.json.createAssertParse<StoredSession>();

/** The `Cookie` header a browser with this session (`storageState` as JSON text) would send to an address. */
export function cookieHeader(session: string, address: URL): string {
  return sentTo(session, address)
    .map(({ name, value }) => `${name}=${value}`)
    .join('; ');
}

/** The value of one of those cookies. */
export function cookieValue(session: string, address: URL, name: string): string | undefined {
  return sentTo(session, address).find((cookie) => cookie.name === name)?.value;
}

function sentTo(session: string, address: URL): StoredCookie[] {
  const now_s = Date.now() / 1000;
  return parseSession(session).cookies.filter(
    (cookie) =>
      hostMatches(cookie.domain, address.hostname) &&
      pathMatches(cookie.path, address.pathname) &&
      (cookie.expires === -1 || cookie.expires > now_s) &&
      (!cookie.secure || address.protocol === 'https:'),
  );
}

function hostMatches(domain: string, host: string): boolean {
  return domain.startsWith('.') ? host === domain.slice(1) || host.endsWith(domain) : host === domain;
}

function pathMatches(path: string, requested: string): boolean {
  return requested === path || requested.startsWith(path.endsWith('/') ? path : `${path}/`);
}
