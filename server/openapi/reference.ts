import typia from 'typia';
import { answered, FIXED_ROUTE, type Fixed, fixed, once, UNCHANGED } from '../http/fixed.js';
import { type Call, type Route, route } from '../http/route.js';
import { buildDocumentInSlices } from './document.js';
import type { OpenapiJson } from './openapi-json.js';
import { CONTENT_SECURITY_POLICY, type PageFile, page, pageFiles } from './page.js';

async function readyPage(): Promise<Fixed> {
  return fixed(await page(), 'text/html; charset=utf-8', {
    'Content-Security-Policy': CONTENT_SECURITY_POLICY,
    'Referrer-Policy': 'no-referrer',
  });
}

/** The page's files, ready to be answered, by name. */
async function readyFiles(): Promise<ReadonlyMap<string, Fixed>> {
  const ready = ([name, { bytes, contentType }]: [string, PageFile]) => [name, fixed(bytes, contentType)] as const;
  return new Map([...(await pageFiles())].map(ready));
}

/**
 * The reference of `table` (HTTP-20). It is public documentation and needs no key; a hosted service requires the
 * gateway's headers, as on every route. `table` is called late: these routes are in it.
 */
export function referenceRoutes(table: () => readonly Route[]): Route[] {
  const document = (hosted: boolean) =>
    once(async () =>
      fixed(JSON.stringify(await buildDocumentInSlices(table(), hosted)), 'application/json; charset=utf-8'),
    );
  const [hosted, open] = [document(true), document(false)];
  const shown = once(readyPage);
  const files = once(readyFiles);
  return [
    route({
      ...FIXED_ROUTE,
      operationId: 'getOpenapi',
      path: '/openapi.json',
      summary: 'Get this reference as an OpenAPI document',
      description: 'Answers this document, made from the routes and types that serve requests. It needs no key.',
      answers: {
        200: { description: 'The document.', schema: typia.json.schemas<[OpenapiJson]>(), headers: ['ETag'] },
        304: UNCHANGED,
      },
      handle: async (call) => answered(await (call.hosted ? hosted() : open()), call.headers),
    }),
    route({
      ...FIXED_ROUTE,
      operationId: 'getReferencePage',
      path: '/docs',
      summary: 'Get this reference as a page',
      description: 'Answers a page that shows this document. It needs no key.',
      answers: { 200: { description: 'The page.', contentType: 'text/html', headers: ['ETag'] }, 304: UNCHANGED },
      handle: async ({ headers }) => answered(await shown(), headers),
    }),
    route({
      ...FIXED_ROUTE,
      operationId: 'getReferenceFile',
      path: '/docs/{file}',
      summary: 'Get a file of the reference page',
      description: 'Answers a script or style of the reference page. It needs no key.',
      answers: {
        200: { description: 'The file.', contentType: 'text/*', headers: ['ETag'] },
        304: UNCHANGED,
      },
      resource: async ({ params }) => (await files()).get(params.file ?? ''),
      handle: async ({ resource, headers }: Call<Fixed, undefined, undefined>) => answered(resource, headers),
    }),
  ];
}
