import type { BrowserContext } from 'playwright';
import typia from 'typia';
import { renewedBy, type Session } from '../../session.js';

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
  return cookieLine(sentTo(session, address));
}

/** Cookies as the header has them. */
export function cookieLine(cookies: readonly { name: string; value: string }[]): string {
  return cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
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

/** Cookies as a context takes them. */
type SetCookies = Parameters<BrowserContext['addCookies']>[0];

/** What an answer sets. */
interface SetByAnswer {
  /** As a browser would take them; one that is over removes. */
  taken: SetCookies[number][];
  /** The names of those that no browser takes, to be told; without a name, or with one that is no word: `?`. */
  leftOut: string[];
}

/** What the `Set-Cookie` lines of an answer from this address set. Those of another site are none of it. */
export function setCookies(lines: string[], address: URL): SetByAnswer {
  const set: SetByAnswer = { taken: [], leftOut: [] };
  for (const line of lines) {
    const cookie = cookieOf(line, address);
    if (cookie === undefined) continue;
    if (isRefused(line, cookie)) set.leftOut.push(/^[\w.-]{1,64}$/.test(cookie.name) ? cookie.name : '?');
    else set.taken.push(cookie);
  }
  return set;
}

function cookieOf(line: string, address: URL): SetCookies[number] | undefined {
  const [pair = '', ...rest] = line.split(';');
  const [name, value] = split(pair);
  const attributes = new Map(rest.map(split).map(([key, text]) => [key.toLowerCase(), text]));
  const domain = domainOf(attributes.get('domain'), address.hostname);
  if (name === '' || domain === undefined) return undefined;
  const path = attributes.get('path');
  const expires = expiryOf(attributes);
  return {
    ...{ name, value, domain },
    path: path?.startsWith('/') ? path : defaultPath(address),
    httpOnly: attributes.has('httponly'),
    secure: attributes.has('secure'),
    ...(expires !== undefined && { expires }),
    ...sameSiteOf(attributes.get('samesite')),
  };
}

const isControl = (character: string) => (character < ' ' && character !== '\t') || character === '\x7f';

/** The longest name and value of a cookie together, in bytes. */
const PAIR_bytes = 4_096;

/** Whether a browser would not take this cookie (RFC 6265bis, 5.7): a context refuses all that are given with it, the session's among them. */
function isRefused(line: string, { name, value, domain, path, secure, sameSite }: SetCookies[number]): boolean {
  if ([...line].some(isControl) || Buffer.byteLength(name + value) > PAIR_bytes) return true;
  if (sameSite === 'None' && !secure) return true;
  if (/^__secure-/i.test(name)) return !secure;
  return /^__host-/i.test(name) && (!secure || path !== '/' || domain?.startsWith('.') === true);
}

/**
 * The session, as JSON text, with the cookies that an answer set; undefined when they change none. What they take away stays: the site
 * does so when it ends the session, and that has an answer of its own.
 */
export function renewedByAnswer(session: string, taken: SetCookies[number][]): string | undefined {
  const now_s = Date.now() / 1000;
  const set = taken.filter(({ expires = -1 }) => expires === -1 || expires > now_s);
  if (set.length === 0) return undefined;
  const isSet = (cookie: StoredCookie) =>
    set.some(({ name, domain, path }) => name === cookie.name && domain === cookie.domain && path === cookie.path);
  const { cookies } = JSON.parse(session) as Session;
  return renewedBy(session, [...cookies.filter((cookie) => !isSet(cookie)), ...set.map(asStored)]);
}

/** A cookie as a context gives it back. */
const asStored = (cookie: SetCookies[number]) =>
  ({ expires: -1, sameSite: 'Lax', ...cookie }) as Session['cookies'][number];

function split(text: string): [key: string, value: string] {
  const at = text.indexOf('=');
  return at < 0 ? [text.trim(), ''] : [text.slice(0, at).trim(), text.slice(at + 1).trim()];
}

/** The host itself without the attribute; undefined when the attribute names another site. */
function domainOf(attribute: string | undefined, host: string): string | undefined {
  const domain = attribute?.replace(/^\./, '').toLowerCase();
  if (!domain) return host;
  return hostMatches(`.${domain}`, host) ? `.${domain}` : undefined;
}

const defaultPath = ({ pathname }: URL) => pathname.slice(0, Math.max(1, pathname.lastIndexOf('/')));

/** Unix seconds; undefined for as long as the session lives. */
function expiryOf(attributes: Map<string, string>): number | undefined {
  const age_s = Number.parseInt(attributes.get('max-age') ?? '', 10);
  const at_s = Number.isNaN(age_s) ? Date.parse(attributes.get('expires') ?? '') / 1000 : Date.now() / 1000 + age_s;
  return Number.isNaN(at_s) ? undefined : Math.max(1, Math.floor(at_s));
}

function sameSiteOf(attribute: string | undefined): Pick<SetCookies[number], 'sameSite'> {
  const sameSite = (['Strict', 'Lax', 'None'] as const).find((one) => one.toLowerCase() === attribute?.toLowerCase());
  return sameSite ? { sameSite } : {};
}
