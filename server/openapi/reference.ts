import { createHash } from 'node:crypto';
import typia from 'typia';
import type { Answer } from '../http/answer.js';
import { type Call, type Route, route } from '../http/route.js';
import { buildDocument } from './document.js';
import type { OpenapiJson } from './openapi-json.js';
import { CONTENT_SECURITY_POLICY, type PageFile, page, pageFiles } from './page.js';

/** Text that does not change while the service runs, with the headers that let clients keep a copy. */
interface Fixed {
  body: string;
  contentType: string;
  headers: Record<string, string>;
}

function fixed(body: string, contentType: string, headers: Record<string, string> = {}): Fixed {
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
  // A copy may be kept but must be revalidated: another version of the service has other text.
  return { body, contentType, headers: { ETag: etag, 'Cache-Control': 'no-cache', ...headers } };
}

/** The text, or 304 for a copy that is still current. */
function answered({ body, contentType, headers }: Fixed, ifNoneMatch: string): Answer {
  const known = ifNoneMatch.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  if (known.includes(headers.ETag ?? '') || known.includes('*')) return { status: 304, body: null, headers };
  return { status: 200, body, contentType, headers };
}

/** Made at the first call and kept. */
function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

function readyPage(): Fixed {
  return fixed(page(), 'text/html; charset=utf-8', {
    'Content-Security-Policy': CONTENT_SECURITY_POLICY,
    'Referrer-Policy': 'no-referrer',
  });
}

/** The page's files, ready to be answered, by name. */
function readyFiles(): ReadonlyMap<string, Fixed> {
  const ready = ([name, { text, contentType }]: [string, PageFile]) => [name, fixed(text, contentType)] as const;
  return new Map([...pageFiles()].map(ready));
}

const COMMON = {
  method: 'GET',
  scopes: 'none',
  body: { kind: 'ignored' },
  headers: { 'If-None-Match': 'optional' },
} as const;
const UNCHANGED = { description: 'The copy is still current.', headers: ['ETag'] } as const;

/**
 * The reference of `table` (HTTP-20). It is public documentation and needs no key; a hosted service requires the
 * gateway's headers, as on every route. `table` is called late: these routes are in it.
 */
export function referenceRoutes(table: () => readonly Route[]): Route[] {
  const document = (hosted: boolean) =>
    once(() => fixed(JSON.stringify(buildDocument(table(), hosted)), 'application/json; charset=utf-8'));
  const [hosted, open] = [document(true), document(false)];
  const shown = once(readyPage);
  const files = once(readyFiles);
  return [
    route({
      ...COMMON,
      operationId: 'getOpenapi',
      path: '/openapi.json',
      summary: 'This reference as an OpenAPI 3.1 document',
      description: 'Answers this document, made from the routes and types that serve requests. It needs no key.',
      answers: {
        200: { description: 'The document.', schema: typia.json.schemas<[OpenapiJson]>(), headers: ['ETag'] },
        304: UNCHANGED,
      },
      handle: async (call) => answered(call.hosted ? hosted() : open(), call.headers['if-none-match']),
    }),
    route({
      ...COMMON,
      operationId: 'getReferencePage',
      path: '/docs',
      summary: 'This reference as a page to read',
      description: 'Answers a page that shows this document. It needs no key.',
      answers: { 200: { description: 'The page.', contentType: 'text/html', headers: ['ETag'] }, 304: UNCHANGED },
      handle: async ({ headers }) => answered(shown(), headers['if-none-match']),
    }),
    route({
      ...COMMON,
      operationId: 'getReferenceFile',
      path: '/docs/{file}',
      summary: 'What the page is made of',
      description: 'Answers a script or style of the reference page. It needs no key.',
      answers: {
        200: { description: 'The file.', contentType: 'text/*', headers: ['ETag'] },
        304: UNCHANGED,
      },
      resource: async ({ params }) => files().get(params.file ?? ''),
      handle: async ({ resource, headers }: Call<Fixed, undefined, undefined>) =>
        answered(resource, headers['if-none-match']),
    }),
  ];
}
