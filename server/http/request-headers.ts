import type { HttpRequest } from 'uWebSockets.js';

/** The headers that are read. */
const HEADERS = [
  'authorization',
  'content-encoding',
  'content-type',
  'gateway-access-client-id',
  'gateway-access-client-secret',
  'idempotency-key',
  'if-none-match',
  'prefer',
  'user-agent',
  'x-request-id',
] as const;
export type RequestHeader = (typeof HEADERS)[number];

/** The idempotency key of a request whose header is empty. */
const BLANK = ' ';

/** The headers of a request; absent ones are ''. */
export function readHeaders(req: HttpRequest): Record<RequestHeader, string> {
  const headers = Object.fromEntries(HEADERS.map((name) => [name, req.getHeader(name)])) as Record<
    RequestHeader,
    string
  >;
  // An empty key is a mistake of its client, not a wish for a new one: sent again, the same request would run twice.
  if (req.getCaseSensitiveMethod() === 'POST' && headers['idempotency-key'] === '') {
    req.forEach((name) => {
      if (name === 'idempotency-key') headers[name] = BLANK;
    });
  }
  return headers;
}
