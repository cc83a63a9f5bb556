import type { Server as HttpServer, IncomingMessage } from 'node:http';
import { createServer } from 'node:https';
import { text } from 'node:stream/consumers';
import { chromium } from 'playwright';
import { Server as ProxyServer } from 'proxy-chain';
import t, { type Test } from 'tap';
import { findBrowser } from '../../../../browser-pool/chromium/find-browser.js';
import type { ProgramRun } from '../../../../browser-pool/program.js';
import { socialPrograms } from '../../../../browser-pool/social/programs/index.js';
import { socialSite } from '../../../../browser-pool/social/site/stand-in.js';
import { selfSigned } from '../../../fixture/certificates.js';

const HOST = 'www.site.test';
const OTHER = 'www.site.example';
const PASSWORD = 'a-password';
const CODE = '000000';

/** A page with the marks of the site's own; it tells its host of every letter that is typed. */
const page = (mark: string, body: string) =>
  `<!doctype html><body data-page="${mark}">${body}
   <script>addEventListener('input', (event) => fetch('/typed', { method: 'POST', body: event.target.value }));</script>`;
const LOGIN = page(
  'login',
  '<form method="post" action="/login"><input id="username"><input id="password"><button id="login-submit">in</button></form>',
);
const CHALLENGE = page(
  'challenge',
  `<main id="challenge" data-challenge-kind="email">
     <form method="post" action="/code"><input id="code"><button id="challenge-submit">on</button></form></main>`,
);

/** A login where every host leads to one server; gives how it failed, and what each host was sent. */
async function login(t: Test, answer: (request: IncomingMessage) => string | { location: string }) {
  const received: { host: string; body: string }[] = [];
  const server = createServer(await selfSigned({ host: HOST }), async (request, response) => {
    received.push({ host: `${request.headers.host}`, body: await text(request) });
    const answered = answer(request);
    if (typeof answered === 'string') response.setHeader('content-type', 'text/html').end(answered);
    else response.writeHead(303, answered).end();
  });
  const proxy = new ProxyServer({
    host: '127.0.0.1',
    port: 0,
    prepareRequestFunction: () => ({ customConnectServer: server as unknown as HttpServer }),
  });
  await proxy.listen();
  t.teardown(() => proxy.close(true));
  const browser = await chromium.launch({ executablePath: findBrowser() ?? '', args: ['--no-sandbox'] });
  t.teardown(() => browser.close());
  const context = await browser.newContext({
    proxy: { server: `http://127.0.0.1:${proxy.port}` },
    ignoreHTTPSErrors: true,
  });
  const opened = await context.newPage();
  const run = {
    ...{ input: {}, actorId: null, hasSession: false, context },
    credentials: { username: 'ada', password: PASSWORD },
    signal: new AbortController().signal,
    page: () => Promise.resolve(opened),
    navigation_ms: () => 10_000,
    challenge: () => Promise.resolve(CODE),
  };
  const program = socialPrograms(socialSite({ origin: `https://${HOST}`, ca: '', spki: '' })).get('social.login');
  const failure = await program?.(run as unknown as ProgramRun).catch((error: unknown) => error);
  await opened.close();
  const to = (host: string) => received.filter((one) => one.host === host).map(({ body }) => body);
  return { failure, own: to(HOST), other: to(OTHER) };
}

t.test('a password is typed into no page of another host, whatever it looks like', async (t) => {
  const { failure, other } = await login(t, ({ headers }) =>
    headers.host === HOST ? { location: `https://${OTHER}/login` } : LOGIN,
  );
  t.match(failure, { code: 'parsing_error', details: { what: 'page_origin' }, transient: false });
  t.strictSame([...new Set(other)], [''], 'it was opened, and nothing was typed');
});

t.test('nor is a code', async (t) => {
  const { failure, own, other } = await login(t, ({ headers, url }) => {
    if (headers.host === OTHER) return CHALLENGE;
    return url === '/login' && headers['content-type'] === undefined ? LOGIN : { location: `https://${OTHER}/check` };
  });
  t.match(failure, { code: 'parsing_error', details: { what: 'page_origin' }, transient: false });
  t.ok(own.includes(PASSWORD), 'the password was, into the page of the site');
  t.strictSame([...new Set(other)], ['']);
});
