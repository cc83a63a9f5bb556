import undici, { type Dispatcher, request } from 'undici';
import type { ProxyTarget } from '../../../browser-pool/messages.js';
import { proxyAgent } from '../../../browser-pool/social/access/proxy-agent.js';
import type { Site } from '../../../browser-pool/social/site/site.js';

/** Signs accounts in at the site without a browser, through one proxy. */
export interface SignIn extends AsyncDisposable {
  /** Gives the session as a browser would store it (`storageState` as JSON text). */
  signIn(username: string): Promise<string>;
}

interface Cookie {
  name: string;
  value: string;
}

/** The form of the sign-in page is fetched and posted as a browser does it, over the same tunnels; no page is rendered. */
export function openSignIn(site: Site, proxy: ProxyTarget): SignIn {
  const agent = proxyAgent(undici, site, proxy);
  const address = site.origin + site.paths.login;
  return {
    async signIn(username) {
      const form = await request(address, { dispatcher: agent });
      await form.body.dump();
      const cookies = cookiesOf(form);
      const csrf = cookies.find(({ name }) => name === site.csrf.cookie)?.value ?? '';
      const answer = await request(address, {
        method: 'POST',
        dispatcher: agent,
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          cookie: cookies.map(({ name, value }) => `${name}=${value}`).join('; '),
        },
        body: new URLSearchParams({ csrf, username, password: 'sandbox', next: site.paths.feed }).toString(),
      });
      await answer.body.dump();
      if (answer.statusCode !== 303) throw new Error(`${username} was not signed in: ${answer.statusCode}`);
      return sessionOf(site, cookiesOf(answer));
    },
    [Symbol.asyncDispose]: () => agent.destroy(),
  };
}

function cookiesOf({ headers }: Dispatcher.ResponseData): Cookie[] {
  const lines = [headers['set-cookie'] ?? []].flat();
  return lines.map((line) => {
    const [pair = ''] = line.split(';', 1);
    const at = pair.indexOf('=');
    return { name: pair.slice(0, at), value: pair.slice(at + 1) };
  });
}

function sessionOf(site: Site, cookies: Cookie[]): string {
  const place = { domain: `.${site.domains[0]}`, path: '/', expires: -1, secure: true };
  return JSON.stringify({
    cookies: cookies.map((cookie) => ({ ...cookie, ...place, httpOnly: false, sameSite: 'Lax' })),
    origins: [],
  });
}
