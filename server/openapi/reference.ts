import { createHash } from 'node:crypto';
import type { Answer } from '../http/answer.js';
import { type Call, type Route, route } from '../http/route.js';
import { buildDocument } from './document.js';
import { CONTENT_SECURITY_POLICY, PAGE, type PageFile, pageFiles } from './page.js';

/** Text that stays as it is while the service runs, and how to ask whether a copy of it is current. */
interface Fixed {
  body: string;
  contentType: string;
  headers: Record<string, string>;
}

function fixed(body: string, contentType: string, headers: Record<string, string> = {}): Fixed {
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
  // A copy may be kept, but another version of the service answers something else: ask before using it.
  return { body, contentType, headers: { ETag: etag, 'Cache-Control': 'no-cache', ...headers } };
}

/** The text, or 304 for a copy that is still current. */
function answered({ body, contentType, headers }: Fixed, ifNoneMatch: string): Answer {
  const known = ifNoneMatch.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  if (known.includes(headers.ETag ?? '') || known.includes('*')) return { status: 304, body: null, headers };
  return { status: 200, body, contentType, headers };
}

const NO_SNIFFING = { 'X-Content-Type-Options': 'nosniff' };

/** Made at the first call and kept. */
function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/**
 * The reference of `table` (HTTP-20). It is public documentation: no key is asked for, but the gateway's headers are
 * when the service is hosted, as everywhere. `table` is asked for late: these routes are in it.
 */
export function referenceRoutes(table: () => readonly Route[]): Route[] {
  const openapi = once(() => fixed(JSON.stringify(buildDocument(table())), 'application/json; charset=utf-8'));
  const page = once(() =>
    fixed(PAGE, 'text/html; charset=utf-8', {
      ...NO_SNIFFING,
      'Content-Security-Policy': CONTENT_SECURITY_POLICY,
      'Referrer-Policy': 'no-referrer',
    }),
  );
  const files = once(() => {
    const ready = ([name, { text, contentType }]: [string, PageFile]) =>
      [name, fixed(text, contentType, NO_SNIFFING)] as const;
    return new Map([...pageFiles()].map(ready));
  });
  const common = {
    method: 'GET',
    scopes: 'none',
    body: { kind: 'ignored' },
    headers: { 'If-None-Match': 'optional' },
  } as const;
  const unchanged = { description: 'The copy is still current.', headers: ['ETag'] } as const;
  return [
    route({
      ...common,
      path: '/openapi.json',
      summary: 'This reference as an OpenAPI 3.1 document',
      answers: {
        200: { description: 'The document.', contentType: 'application/json', headers: ['ETag'] },
        304: unchanged,
      },
      handle: async ({ headers }) => answered(openapi(), headers['if-none-match']),
    }),
    route({
      ...common,
      path: '/docs',
      summary: 'This reference as a page to read',
      answers: { 200: { description: 'The page.', contentType: 'text/html', headers: ['ETag'] }, 304: unchanged },
      handle: async ({ headers }) => answered(page(), headers['if-none-match']),
    }),
    route({
      ...common,
      path: '/docs/{file}',
      summary: 'What the page is made of',
      answers: {
        200: { description: 'The file.', contentType: 'text/*', headers: ['ETag'] },
        304: unchanged,
      },
      resource: async ({ params }) => files().get(params.file ?? ''),
      handle: async ({ resource, headers }: Call<Fixed, undefined, undefined>) =>
        answered(resource, headers['if-none-match']),
    }),
  ];
}
