import { loggedOut, type RunFailure, restricted } from '../../failures.js';
import type { PageKind, Site } from '../site/site.js';

/**
 * How the site shows, in place of what was asked for, that a session is good for nothing more: by a redirect or by a page. Anything that speaks to
 * the site in a session looks for it (CONN-8).
 */

/**
 * The failure that a redirect to this address stands for; null for an address like any other. One that leads `from` an address of the site to itself
 * goes on for ever: sites do so to sessions that they have half forgotten, but also after a write that they have made, so that it proves nothing.
 */
export function redirectFailure(site: Site, to: URL, from: URL): RunFailure | null {
  if (to.origin !== site.origin) return null;
  const { login, restricted: closed, checkpoint } = site.paths;
  if (to.pathname === closed) return restricted();
  if (to.pathname === login) return loggedOut();
  if (to.pathname === checkpoint || to.pathname.startsWith(`${checkpoint}/`)) return loggedOut('checkpoint');
  return to.href === from.href ? loggedOut('endless_redirects', false) : null;
}

/** The failure that a page of this kind stands for in a session; null for any other. `refused`: it proves that nothing was done. */
export function kindFailure(kind: PageKind | undefined, refused: boolean): RunFailure | null {
  if (kind === 'login') return loggedOut(undefined, refused);
  if (kind === 'challenge' || kind === 'challengeExpired') return loggedOut('checkpoint', refused);
  return kind === 'restricted' ? restricted(refused) : null;
}

/** The same of a page as it was sent; null for any other text. */
export function pageFailure(site: Site, text: string, refused: boolean): RunFailure | null {
  return kindFailure(pageKind(site, text), refused);
}

/** The kind that a page names in its text. No browser reads it: where on the page the mark stands is not looked at. */
function pageKind({ pageMark, pages }: Site, text: string): PageKind | undefined {
  if (!/^\s*</.test(text)) return undefined;
  const marks = [...text.matchAll(/\s([\w:-]+)=(["'])(.*?)\2/gs)].filter(([, name]) => name === pageMark.attribute);
  return (Object.keys(pages) as PageKind[]).find((known) => marks.some(([, , , mark]) => mark === pages[known]));
}
