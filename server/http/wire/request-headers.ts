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

/** Those that are lists may stand on several lines, which mean what one line of all means (RFC 9110, 5.3); with what stands between. */
const LISTS: Readonly<Partial<Record<string, string>>> = {
  'accept-encoding': ',',
  cookie: '; ',
  'if-none-match': ',',
  prefer: ',',
  traceparent: ',', // two name no trace
  'x-forwarded-for': ',',
};

const KNOWN: ReadonlySet<string> = new Set(HEADERS);
/** Of these a second one says that two readers would see two requests. */
const SINGLE: ReadonlySet<string> = new Set([
  ...['content-length', 'transfer-encoding'],
  ...HEADERS.filter((name) => LISTS[name] === undefined),
]);
const ABSENT = Object.fromEntries(HEADERS.map((name) => [name, ''])) as Record<RequestHeader, string>;

/** What is read of a request's head. */
export interface RequestHead {
  /** Absent ones are ''. */
  headers: Record<RequestHeader, string>;
  /** Why another reader could see another request: another end of it, another host, key or sender. */
  ambiguous: Ambiguity | undefined;
}

export interface Ambiguity {
  /** In small letters. */
  header: string;
  /** What is wrong with it. */
  message: string;
}

/** Reads a head in one walk, which costs as much as asking for the headers one by one, and sees those that come twice. */
export function readHead(req: HttpRequest): RequestHead {
  const headers = { ...ABSENT };
  const seen: string[] = [];
  let ambiguous: Ambiguity | undefined;
  req.forEach((name, value) => {
    if (SINGLE.has(name)) {
      const message = seen.includes(name) ? 'is given more than once' : framingFault(name, value);
      if (message) ambiguous = { header: name, message: `${name} ${message}` };
      seen.push(name);
    }
    if (!KNOWN.has(name)) return;
    const known = name as RequestHeader;
    headers[known] = headers[known] === '' ? value : `${headers[known]}${LISTS[known] ?? ''}${value}`;
    // An empty key is a mistake of its client, not a wish for a new one: sent again, the same request would run twice.
    if (name === 'idempotency-key' && value === '') headers[name] = BLANK;
  });
  if (seen.includes('transfer-encoding') && seen.includes('content-length'))
    ambiguous = { header: 'content-length', message: 'its length is given twice' };
  if (headers['idempotency-key'] === BLANK && req.getCaseSensitiveMethod() !== 'POST') headers['idempotency-key'] = '';
  return { headers, ambiguous };
}

/** What keeps the end of a body from being certain. */
function framingFault(name: string, value: string): string | undefined {
  if (name === 'transfer-encoding' && value.toLowerCase() !== 'chunked') return 'can only be chunked';
  return name === 'content-length' && value === '' ? 'is empty' : undefined;
}
