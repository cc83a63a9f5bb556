import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { answered, FIXED_ROUTE, type Fixed, fixed, once, UNCHANGED } from '../http/fixed.js';
import { type Call, type Route, route } from '../http/route.js';

/** Put there by the build, each with a hash of its content in its name. */
const FOLDER = join(import.meta.dirname, 'files');

/** A page may use files of its own origin only, and nothing may stand around it or run in it. */
export const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

const PAGE_HEADERS = {
  'Content-Security-Policy': CONTENT_SECURITY_POLICY,
  'Referrer-Policy': 'no-referrer',
  'X-Frame-Options': 'DENY',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
};

const TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
};

/** The pages' files by name: a name never gets other content, so a copy is good for ever. */
const files = once(async (): Promise<ReadonlyMap<string, Fixed>> => {
  const headers = { 'Cache-Control': 'public, max-age=31536000, immutable' };
  const made = (await readdir(FOLDER)).map(async (name): Promise<[string, Fixed][]> => {
    const type = TYPES[name.split('.').at(-1) ?? ''];
    return type ? [[name, fixed(await readFile(join(FOLDER, name)), type, headers)]] : [];
  });
  return new Map((await Promise.all(made)).flat());
});

/** The page of this name. Addresses are relative to its own, so that it also works below a prefix. */
async function page(name: string, title: string, headers: Record<string, string> = {}): Promise<Fixed> {
  const all = [...(await files()).keys()];
  const named = (ending: string) => all.filter((file) => file.startsWith(`${name}-`) && file.endsWith(ending));
  const head = [
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="color-scheme" content="light dark">',
    '<meta name="robots" content="noindex">',
    `<title>${title}</title>`,
    '<link rel="icon" href="data:,">',
    ...named('.css').map((file) => `<link rel="stylesheet" href="pages/${file}">`),
    ...named('.js').map((file) => `<script type="module" src="pages/${file}"></script>`),
  ].join('\n');
  const body = '<div id="page"></div>\n<noscript>This page needs JavaScript.</noscript>';
  const text = `<!doctype html>\n<html lang="en">\n<head>\n${head}\n</head>\n<body>\n${body}\n</body>\n</html>\n`;
  return fixed(text, 'text/html; charset=utf-8', { ...PAGE_HEADERS, ...headers });
}

const reconnectPage = once(() => page('reconnect', 'Sign in again'));
const consolePage = once(() => page('console', 'Console', { 'Cache-Control': 'no-store' }));

/** Pages for people, and what they are made of. They hold no secret, and need no key to be read. */
export const pageRoutes: Route[] = [
  route({
    ...FIXED_ROUTE,
    operationId: 'getReconnectPage',
    path: '/reconnect',
    summary: 'Get the page of a reconnect link',
    description:
      'Answers the page at which the owner of an account signs it in again. It is the same for every link: what proves a link stands behind the `#` of the address, which browsers send to nobody.',
    answers: { 200: { description: 'The page.', contentType: 'text/html', headers: ['ETag'] }, 304: UNCHANGED },
    handle: async ({ headers }) => answered(await reconnectPage(), headers),
  }),
  route({
    ...FIXED_ROUTE,
    operationId: 'getConsolePage',
    path: '/console',
    summary: 'Get the page of the console',
    description:
      'Answers the page at which people work with what a workspace, or an operator, has. It is the same for everybody: it asks for what it shows with the session of who has signed in.',
    answers: { 200: { description: 'The page.', contentType: 'text/html', headers: ['ETag'] }, 304: UNCHANGED },
    handle: async ({ headers }) => answered(await consolePage(), headers),
  }),
  route({
    ...FIXED_ROUTE,
    operationId: 'getPageFile',
    path: '/pages/{file}',
    summary: 'Get a file of a page',
    description: 'Answers a script or a style sheet of a page. Its name changes with its content.',
    answers: { 200: { description: 'The file.', contentType: 'text/javascript', headers: ['ETag'] }, 304: UNCHANGED },
    resource: async ({ params }) => (await files()).get(params.file ?? ''),
    handle: async ({ resource, headers }: Call<Fixed, undefined, undefined>) => answered(resource, headers),
  }),
];
