import type { Server as HttpServer, IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { text } from 'node:stream/consumers';
import tls from 'node:tls';
import { gzipSync } from 'node:zlib';
import { chromium } from 'playwright';
import { Server as ProxyServer } from 'proxy-chain';
import t, { type Test } from 'tap';
import { findBrowser } from '../../../../browser-pool/chromium/find-browser.js';
import { RunFailure } from '../../../../browser-pool/failures.js';
import { Endpoints, ProviderRefusal } from '../../../../browser-pool/social/access/endpoints.js';
import { isSent } from '../../../../browser-pool/social/site/answers.js';
import { socialSite } from '../../../../browser-pool/social/site/stand-in.js';
import { UNKNOWN_PROGRESS, type WriteProgress } from '../../../../storage/model/evidence.js';
import { authority } from '../../../fixture/certificates.js';
import { longTest } from '../../../fixture/size.js';

const HOST = 'www.site.test';
const PERMISSION = { until_ns: 2n ** 62n, until_ms: Number.MAX_SAFE_INTEGER };

const { ca, issue } = await authority();
const trusted = tls.getCACertificates('default');
tls.setDefaultCACertificates([...trusted, ca]);
t.teardown(() => tls.setDefaultCACertificates(trusted));

interface Received {
  method: string | undefined;
  url: string | undefined;
  headers: Record<string, unknown>;
  body: string;
}

/** A site of its own behind a proxy, a browser context with a session on it, and what reached the site. */
async function fixture(t: Test, answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const received: Received[] = [];
  const server = createServer(await issue({ host: HOST }), async (request, response) => {
    const { connection, ...headers } = request.headers;
    received.push({ method: request.method, url: request.url, headers, body: await text(request) });
    answer(request, response);
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
  const target = { id: 'proxy', server: `http://127.0.0.1:${proxy.port}` };
  const context = await browser.newContext({ proxy: { server: target.server } });
  const site = socialSite({ origin: `https://${HOST}`, ca, spki: '' });
  const cookie = { domain: HOST, path: '/', secure: true, httpOnly: false };
  await context.addCookies([
    { ...cookie, name: site.csrf.cookie, value: 'token' },
    { ...cookie, name: 'session', value: 'a%20b=c' },
    { ...cookie, name: 'elsewhere', value: 'no', path: '/elsewhere' },
  ]);
  const { userAgent } = await (await browser.newBrowserCDPSession()).send('Browser.getVersion');
  const told: string[] = [];
  const run = {
    ...{ context, userAgent, proxy: target },
    signal: new AbortController().signal,
    request_ms: () => 10_000,
    sawCookies: (leftOut: string[]) => void told.push(...leftOut),
    boundary: () => Promise.resolve(PERMISSION),
    progress: { ...UNKNOWN_PROGRESS },
  };
  return { site, run, context, told, received, endpoints: await Endpoints.open(run, site) };
}

/** What a browser refuses, each for another reason. */
const ODD_COOKIES = [
  `odd-long=${'x'.repeat(4_090)}; Path=/; Secure`,
  `__Host-odd=1; Path=/; Secure; Domain=${HOST}`,
  '__Host-odd-path=1; Path=/deeper; Secure',
  '__Secure-odd=1; Path=/',
  'odd-same-site=1; Path=/; SameSite=None',
  `${'odd'.repeat(1_400)}; Path=/`,
];

const SENT = { data: { urn: 'wörks', conversationId: '2-a', deliveredAt: 1735689600000 } };

t.test(
  'a write carries what any other request of its session carries, and hands on what the answer sets',
  async (t) => {
    const { context, told, received, endpoints } = await fixture(t, (_, response) => {
      response.setHeader('set-cookie', [
        'fresh=1; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=600',
        'session=; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT',
        'foreign=1; Domain=other.test',
        ...ODD_COOKIES,
      ]);
      response.setHeader('content-encoding', 'gzip');
      response.end(gzipSync(JSON.stringify({ ...SENT, more: 1 })));
    });
    t.same(await endpoints.write('messages', { body: 'Hellö' }, isSent), {
      answer: SENT,
      original: { ...SENT, more: 1 },
    });
    const cookies = await context.cookies();
    t.notOk(
      cookies.some(({ name }) => name.includes('odd')),
      'nor what no browser takes',
    );
    t.strictSame(told, ['odd-long', '__Host-odd', '__Host-odd-path', '__Secure-odd', 'odd-same-site', '?'], 'by name');
    const fresh = cookies.find(({ name }) => name === 'fresh');
    t.match(fresh, { value: '1', domain: HOST, path: '/', secure: true, httpOnly: true, sameSite: 'Lax' });
    t.notOk(
      cookies.some(({ name }) => name === 'session' || name === 'foreign'),
      "what the answer ended is gone, and another site's never came",
    );

    await context.addCookies([{ name: 'session', value: 'a%20b=c', domain: HOST, path: '/', secure: true }]);
    await context.clearCookies({ name: 'fresh' });
    await endpoints.post('messages', { body: 'Hellö' }, isSent);
    const [write, post] = received;
    const sorted = (one: Received | undefined) => ({
      ...one,
      headers: {
        ...one?.headers,
        cookie: String(one?.headers.cookie).split('; ').sort(),
        'accept-encoding': String(one?.headers['accept-encoding']).replaceAll(' ', ''),
      },
    });
    t.same(sorted(write), sorted(post));
  },
);

t.test('a write reads refusals as any other request does, and none of them leaves its outcome open', async (t) => {
  let answered: [status: number, headers: Record<string, string>, body: string] = [200, {}, ''];
  const { run, site, endpoints } = await fixture(t, (_, response) => {
    const [status, headers, body] = answered;
    response.writeHead(status, headers).end(body);
  });
  const refusedBy = (code: string) => JSON.stringify({ error: { code, message: '' } });
  const away = (path: string): Record<string, string> => ({ location: `https://${HOST}${path}` });
  for (const refusal of [
    [302, away(site.paths.login), ''],
    [302, away('/elsewhere'), ''],
    [400, {}, refusedBy('bad_request')],
    [401, {}, ''],
    [403, {}, refusedBy('account_restricted')],
    [403, {}, refusedBy('self_target')],
    [404, {}, ''],
    [429, { 'retry-after': '7' }, ''],
    [500, {}, ''],
    [502, {}, ''],
    [200, {}, 'nonsense'],
  ] as const) {
    answered = [...refusal];
    const [write, post] = await Promise.all([
      endpoints.write('messages', { body: '' }, isSent).catch((error: unknown) => error),
      endpoints.post('messages', { body: '' }, isSent).catch((error: unknown) => error),
    ]);
    if (!(write instanceof RunFailure && post instanceof RunFailure))
      throw new Error(`${refusal[0]}: ${write}, ${post}`);
    t.equal(write instanceof ProviderRefusal, post instanceof ProviderRefusal);
    const plain = ({ code, details, transient, definite, unsent, effects }: RunFailure) => ({
      ...{ code, details, transient, definite, unsent, effects },
    });
    t.same(plain(write), plain(post), `${refusal[0]} ${refusal[2]}`);
  }
  const wrong = { ...run, proxy: { id: 'gone', server: 'http://127.0.0.1:9' } };
  const unreachable = await Endpoints.open(wrong, site);
  await t.rejects(unreachable.write('messages', { body: '' }, isSent), { code: 'proxy_error', transient: true });
});

longTest(t, 'an answer that outgrows its bound, breaks off or never comes leaves the outcome open', async (t) => {
  let act: (response: ServerResponse) => void = () => {};
  const { run, site } = await fixture(t, (_, response) => act(response));
  for (const [code, answer, acts] of [
    ['parsing_error', { status: 200 }, (response) => response.end(Buffer.alloc(1_200_000, 'a'))],
    ['upstream_error', null, (response) => response.destroy()],
    [
      'upstream_error',
      { status: 201 },
      (response) => response.writeHead(201, { 'content-length': 10 }).write('a', () => response.destroy()),
    ],
    ['upstream_timeout', null, () => {}],
  ] as [string, WriteProgress['answer'], (response: ServerResponse) => void][]) {
    act = acts;
    const progress: WriteProgress = { ...UNKNOWN_PROGRESS };
    const quick = await Endpoints.open({ ...run, request_ms: () => 500, progress }, site);
    const before = new Date().toISOString();
    await t.rejects(quick.write('messages', { body: '' }, isSent), { code, definite: false, unsent: false });
    const after = new Date().toISOString();
    t.match(progress, { request: { sent: 'yes' }, answer }, `the request left, ${code}`);
    const at = progress.request.at ?? '';
    t.ok(before <= at && at <= after, `${before} ${at} ${after}`);
  }
});

longTest(t, 'an answer beyond its bounds is none, as it comes and decoded', async (t) => {
  let act: (response: ServerResponse) => void = () => {};
  const { endpoints } = await fixture(t, (_, response) => act(response));
  const encoded = (response: ServerResponse, bytes: Buffer) =>
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(bytes);
  const levels = 200_000;
  const nested = `{"data":${'['.repeat(levels)}${']'.repeat(levels)}}`;
  const pressed = gzipSync(Buffer.alloc(100_000_000, ' '));
  const answers: Record<string, (response: ServerResponse) => void> = {
    'many bytes': (response) => response.end(Buffer.alloc(9_000_000, ' ')),
    'many bytes in few': (response) => encoded(response, pressed),
    'bytes that are no gzip': (response) => encoded(response, Buffer.from('nonsense')),
    'a gzip without its end': (response) => encoded(response, pressed.subarray(0, 1_000)),
    'many levels': (response) => response.end(nested),
    'a long header': (response) => response.setHeader('set-cookie', `a=${'b'.repeat(1_600_000)}`).end('{}'),
  };
  for (const [what, acts] of Object.entries(answers)) {
    act = acts;
    await t.rejects(endpoints.post('messages', { body: '' }, isSent), { code: 'parsing_error' }, what);
    await t.rejects(
      endpoints.write('messages', { body: '' }, isSent),
      { code: 'parsing_error', definite: false },
      what,
    );
  }
  act = (response) => encoded(response, gzipSync(JSON.stringify(SENT)));
  t.same(await endpoints.post('messages', { body: '' }, isSent), SENT, 'and the next one is read');
});

t.test('a run that ended before its request began to leave sends nothing', async (t) => {
  const { run, site, received } = await fixture(t, (_, response) => response.end(JSON.stringify(SENT)));
  const stop = new AbortController();
  const boundary = async () => {
    stop.abort(new RunFailure('deadline_exceeded'));
    return PERMISSION;
  };
  const endpoints = await Endpoints.open({ ...run, signal: stop.signal, boundary }, site);
  await t.rejects(endpoints.write('messages', { body: '' }, isSent), { code: 'deadline_exceeded', unsent: true });
  t.same(received, []);
  t.same(run.progress, UNKNOWN_PROGRESS);
});
