import { LIMITS as STORAGE_LIMITS } from '../../../storage/limits.js';
import { HttpError } from '../../../storage/model/errors.js';
import type { RequestHeader } from '../wire/request-headers.js';

type Headers = Readonly<Record<RequestHeader, string>>;

/** The cookie that carries a session of the console, and the requests that may use it (HTTP-24). */
export interface ConsoleCookie {
  /** The session's token; undefined where the request has none. */
  read(headers: Headers): string | undefined;
  /** The value of `Set-Cookie` that gives it to the browser, for as long as a session lasts. */
  given(token: string): string;
  /** The value of `Set-Cookie` that takes it back. */
  readonly cleared: string;
  /** Throws 403 `cross_site` for a request that a page of another site made, as far as its browser says so. */
  refuseCrossSite(method: string, headers: Headers): void;
}

/** `publicUrl`: the origin under which browsers reach the service, where it is known. */
export function consoleCookie(publicUrl: string | null): ConsoleCookie {
  const secure = publicUrl?.startsWith('https:') === true;
  // A browser takes a name with this prefix only from the host itself, over TLS, for all of its paths.
  const name = secure ? '__Host-cs_console' : 'cs_console';
  const written = (value: string, age_s: number) =>
    `${name}=${value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${age_s}${secure ? '; Secure' : ''}`;
  return {
    read({ cookie }) {
      const pair = cookie.split(/; */).find((one) => one.startsWith(`${name}=`));
      return pair?.slice(name.length + 1);
    },
    given: (token) => written(token, STORAGE_LIMITS.session_ms / 1000),
    cleared: written('', 0),
    refuseCrossSite(method, headers) {
      const site = headers['sec-fetch-site'];
      const typed = site === 'none' && (method === 'GET' || method === 'HEAD');
      if (site !== '' && site !== 'same-origin' && !typed) throw new HttpError('cross_site');
      const { origin, host } = headers;
      if (origin === '' || origin === publicUrl) return;
      if (!URL.canParse(origin) || new URL(origin).host !== host.toLowerCase()) throw new HttpError('cross_site');
    },
  };
}
