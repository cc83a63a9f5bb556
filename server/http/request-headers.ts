import type { HttpRequest } from 'uWebSockets.js';

/** The headers that are read. */
const HEADERS = [
  'accept-encoding',
  'authorization',
  'console-request',
  'console-workspace',
  'content-encoding',
  'content-type',
  'cookie',
  'gateway-access-client-id',
  'gateway-access-client-secret',
  'host',
  'idempotency-key',
  'if-none-match',
  'origin',
  'prefer',
  'sec-fetch-site',
  'traceparent',
  'user-agent',
  'x-forwarded-for',
  'x-request-id',
] as const;
export type RequestHeader = (typeof HEADERS)[number];

/** The idempotency key of a request whose header is empty. */
const BLANK = ' ';

/** Of these a second one says that two readers would see two requests. */
const SINGLE: ReadonlySet<string> = new Set(['content-length', 'host', 'transfer-encoding']);

const KNOWN: ReadonlySet<string> = new Set(HEADERS);
const ABSENT = Object.fromEntries(HEADERS.map((name) => [name, ''])) as Record<RequestHeader, string>;

/** What is read of a request's head. */
export interface RequestHead {
  /** The first of each name; absent ones are ''. */
  headers: Record<RequestHeader, string>;
  /** Why another reader could see another end of this request, or another host. */
  ambiguous: string | undefined;
}

/** Reads a head in one walk, which costs as much as asking for the headers one by one, and sees those that come twice. */
export function readHead(req: HttpRequest): RequestHead {
  const headers = { ...ABSENT };
  const seen: string[] = [];
  let ambiguous: string | undefined;
  req.forEach((name, value) => {
    if (SINGLE.has(name)) {
      if (seen.includes(name)) ambiguous = `${name} is given more than once`;
      else if (name === 'transfer-encoding' && !isChunked(value)) ambiguous = 'transfer-encoding can only be chunked';
      else if (name === 'content-length' && value === '') ambiguous = 'content-length is empty';
      seen.push(name);
    }
    if (KNOWN.has(name) && headers[name as RequestHeader] === '') headers[name as RequestHeader] = value;
    else if (name === 'traceparent')
      headers[name] += `,${value}`; // two name no trace
    else if (name === 'cookie') headers[name] += `; ${value}`;
    else if (name === 'x-forwarded-for') headers[name] += `,${value}`;
    // An empty key is a mistake of its client, not a wish for a new one: sent again, the same request would run twice.
    if (name === 'idempotency-key' && value === '') headers[name] = BLANK;
  });
  if (seen.includes('transfer-encoding') && seen.includes('content-length')) ambiguous = 'its length is given twice';
  if (headers['idempotency-key'] === BLANK && req.getCaseSensitiveMethod() !== 'POST') headers['idempotency-key'] = '';
  return { headers, ambiguous };
}

/** True for the one transfer coding that is taken. */
function isChunked(value: string): boolean {
  return value.toLowerCase() === 'chunked';
}
