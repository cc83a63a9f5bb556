import type { BrowserContextOptions } from 'playwright';

/** A stored session: Playwright's `storageState`, which crosses threads and rests as JSON text. */
export type Session = Exclude<BrowserContextOptions['storageState'], string | undefined>;

type Cookie = Session['cookies'][number];

/** What the site changed of a session since it was stored, both as JSON text. */
export interface Renewal {
  /** The session as it was stored. */
  base: string;
  /** The session as it is now. */
  session: string;
}

/**
 * The session with the cookies that it has now; undefined when the site changed none of them. Times alone count once less than half
 * of what is left by now was left before, so that a site that puts the end of a cookie off with every answer is not followed each time.
 */
export function renewedBy(base: string, cookies: Cookie[]): string | undefined {
  const state = JSON.parse(base) as Session;
  const before = byKey(state.cookies);
  const now = byKey(cookies);
  const changed = [...now].some(([key, cookie]) => isRenewed(before.get(key), cookie));
  const gone = [...before.keys()].some((key) => !now.has(key));
  return changed || gone ? JSON.stringify({ ...state, cookies }) : undefined;
}

/** True when the session lost none of its cookies by this renewal. */
export function keepsAll({ base, session }: Renewal): boolean {
  const now = byKey((JSON.parse(session) as Session).cookies);
  return [...byKey((JSON.parse(base) as Session).cookies).keys()].every((key) => now.has(key));
}

/**
 * The stored session with what a renewal changes, cookie by cookie; undefined when nothing of it applies. A change of another
 * renewal since `base` stays: the site knows no older value any more.
 */
export function withRenewal(stored: string, { base, session }: Renewal): string | undefined {
  if (stored === base) return session;
  const state = JSON.parse(stored) as Session;
  const before = byKey((JSON.parse(base) as Session).cookies);
  const now = byKey((JSON.parse(session) as Session).cookies);
  const merged = byKey(state.cookies);
  let applied = false;
  for (const key of new Set([...before.keys(), ...now.keys()])) {
    const [from, to] = [before.get(key), now.get(key)];
    if (same(from, to) || !same(merged.get(key), from)) continue;
    if (to) merged.set(key, to);
    else merged.delete(key);
    applied = true;
  }
  return applied ? JSON.stringify({ ...state, cookies: [...merged.values()] }) : undefined;
}

const byKey = (cookies: Cookie[]): Map<string, Cookie> =>
  new Map(cookies.map((cookie) => [JSON.stringify([cookie.name, cookie.domain, cookie.path]), cookie]));

/** Whatever the order in which they name what they hold. */
const same = (one: Cookie | undefined, other: Cookie | undefined): boolean =>
  one === other ||
  (one !== undefined && other !== undefined && !isChanged(one, other) && one.expires === other.expires);

const isChanged = (before: Cookie, now: Cookie): boolean =>
  before.value !== now.value ||
  before.httpOnly !== now.httpOnly ||
  before.secure !== now.secure ||
  before.sameSite !== now.sameSite;

function isRenewed(before: Cookie | undefined, now: Cookie): boolean {
  if (!before || isChanged(before, now)) return true;
  if (before.expires === -1 || now.expires === -1) return before.expires !== now.expires;
  const at_s = Date.now() / 1000;
  return now.expires - at_s > 2 * (before.expires - at_s);
}
