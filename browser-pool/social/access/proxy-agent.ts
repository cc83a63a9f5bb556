import type { ProxyAgent } from 'undici';
import { LIMITS } from '../../limits.js';
import type { ProxyTarget } from '../../messages.js';
import type { Site } from '../site/site.js';

/** The HTTP client. The first request loads it: it takes a tenth of a second, which a start does not wait for. */
export type HttpClient = typeof import('undici')['default'];

/**
 * Requests without a browser, through a session's proxy, trusting the site's own CA. Its caller closes it, or leaves that to its
 * connections, which end when they are idle for `read_connection_ms`.
 */
export function proxyAgent(
  client: HttpClient,
  site: Site,
  { server, username, password = '' }: ProxyTarget,
): ProxyAgent {
  const token = username === undefined ? undefined : basicCredentials(username, password);
  return new client.ProxyAgent({
    uri: server,
    keepAliveTimeout: LIMITS.read_connection_ms,
    keepAliveMaxTimeout: LIMITS.read_connection_ms,
    maxHeaderSize: LIMITS.answer_header_bytes,
    ...(token !== undefined && { token }),
    ...(site.ca !== undefined && { requestTls: { ca: site.ca } }),
  });
}

/** The header value of basic authentication. */
export function basicCredentials(username: string, password: string): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
}
