import { ProxyAgent } from 'undici';
import type { ProxyTarget } from '../../messages.js';
import type { Site } from '../site/site.js';

/** Requests without a browser, through a session's proxy, trusting the site's own CA. Its caller closes it. */
export function proxyAgent(site: Site, { server, username, password = '' }: ProxyTarget): ProxyAgent {
  const token = username === undefined ? undefined : basicCredentials(username, password);
  return new ProxyAgent({
    uri: server,
    ...(token !== undefined && { token }),
    ...(site.ca !== undefined && { requestTls: { ca: site.ca } }),
  });
}

/** The header value of basic authentication. */
export function basicCredentials(username: string, password: string): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
}
