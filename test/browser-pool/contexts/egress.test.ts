import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { isIP } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type Page } from 'playwright';
import t from 'tap';
import { LiveBrowser } from '../../../browser-pool/chromium/browser.js';
import { BrowserKeeper } from '../../../browser-pool/chromium/browser-keeper.js';
import { findBrowser } from '../../../browser-pool/chromium/find-browser.js';
import { Contexts } from '../../../browser-pool/contexts/contexts.js';
import { SessionContext } from '../../../browser-pool/contexts/session-context.js';
import { LIMITS } from '../../../browser-pool/limits.js';
import { createLogger } from '../../../storage/log/log.js';
import { longTest } from '../../fixture/size.js';
import { leakyPage } from './leaky-page.js';
import { openHiddenSite, openOutside } from './outside.js';

const path = findBrowser() ?? '';
const ZONE = 'outside.example';

t.test('a page that tries every way out of its browser', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'egress-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const outside = await openOutside(t);
  const site = await openHiddenSite(t, 'hidden.test', () => leakyPage({ ...outside, zone: ZONE }));
  const trust = `--ignore-certificate-errors-spki-list=${site.spki}`;
  const log = (name: string) => join(folder, `${name}.json`);

  longTest(t, 'gets out of one that is only given a proxy', async (t) => {
    const file = log('plain');
    const browser = await chromium.launch({ executablePath: path, args: [trust, `--log-net-log=${file}`] });
    t.teardown(() => browser.close());
    const page = await browser.newPage({ proxy: { server: `http://127.0.0.1:${site.proxyPort}` } });
    await tryEverything(page, site.origin);
    await browser.close();
    t.ok(outside.arrived.udp + datagrams(file).length > 0, 'or the next test would show nothing');
    t.ok(lookups(file).length > 0);
  });

  t.test('reaches nothing past the proxy from one of the pool', async (t) => {
    const file = log('pool');
    const before = { ...outside.arrived };
    const args = [trust, `--log-net-log=${file}`];
    const browser = await LiveBrowser.launch({ path, args, sandboxed: false }, LIMITS);
    t.teardown(() => browser.close());
    const proxy = { id: 'p', server: `http://127.0.0.1:${site.proxyPort}` };
    const session = await SessionContext.open(browser, proxy, null);
    site.asked.length = 0;
    await tryEverything(await session.newPage(), site.origin);
    await browser.close();
    t.strictSame(outside.arrived, before, 'no packet and no connection');
    t.strictSame(datagrams(file), [], 'nor to anywhere else');
    t.strictSame(lookups(file), [], 'no name was asked for');
    t.strictSame(connections(file), [`127.0.0.1:${site.proxyPort}`], 'the proxy alone was connected to');
    t.ok(site.asked.includes(`fetch.${ZONE}:443`), 'what the page asked for went to the proxy');
    t.ok(site.asked.includes(`127.0.0.1:${outside.metricsPort}`), 'addresses of the machine itself among it');
  });

  longTest(t, 'and a context without a proxy has no way out at all', async (t) => {
    const before = { ...outside.arrived };
    const browser = await LiveBrowser.launch({ path, args: [], sandboxed: false }, LIMITS);
    t.teardown(() => browser.close());
    const page = await (await browser.newContext({})).newPage();
    for (const port of [outside.metricsPort, outside.port]) {
      for (const host of ['127.0.0.1', 'localhost', outside.host])
        await t.rejects(page.goto(`http://${host}:${port}/`));
    }
    t.strictSame(outside.arrived, before);
  });
});

longTest(t, 'proxies with names', async (t) => {
  const site = await openHiddenSite(t, 'hidden.test', () => '<title>here</title>');
  const trust = `--ignore-certificate-errors-spki-list=${site.spki}`;
  const log = createLogger({ level: 'silent', format: 'json' }, {});
  const keeper = new BrowserKeeper([trust], LIMITS, log);
  t.teardown(() => keeper.close());
  const contexts = new Contexts(keeper, LIMITS);
  const titleThrough = async (server: string) => {
    const proxy = { id: server, server };
    const owner = {
      connectionId: server,
      stateRevision: 1,
      epoch: 1,
      proxy,
      session: null,
      renewed: () => {},
      fenced: () => {},
    };
    const lease = await contexts.lease(owner);
    const page = await lease.session.newPage();
    await page.goto(site.origin);
    const title = await page.title();
    await lease.drop();
    return title;
  };

  t.test('one that is spoken to in the open is resolved for the browser', async (t) => {
    t.equal(await titleThrough(`http://localhost:${site.proxyPort}`), 'here');
    await t.rejects(titleThrough('http://no-such-proxy.invalid:1'), /ENOTFOUND|EAI_AGAIN/);
  });

  t.test('one that is spoken to over TLS gets a browser that resolves its name and no other', async (t) => {
    const before = await keeper.current();
    t.equal(await titleThrough(`https://localhost:${site.secureProxyPort}`), 'here');
    const after = await keeper.current();
    t.not(after, before);
    t.ok(after.resolves('localhost'));
    t.ok(before.gone, 'the other one closed behind its last context');
    t.equal(await keeper.current('localhost'), after, 'and stays');
  });
});

async function tryEverything(page: Page, origin: string): Promise<void> {
  await page.goto(origin, { waitUntil: 'commit' });
  await page.waitForFunction('window.tried', undefined, { timeout: LIMITS.navigation_ms });
}

interface NetLog {
  constants: { logEventTypes: Record<string, number> };
  events: { type: number; params?: Record<string, unknown> }[];
}

/** The events of one name in the browser's own log of its network. */
function events(file: string, name: string): Record<string, unknown>[] {
  const log = JSON.parse(readFileSync(file, 'utf8')) as NetLog;
  const type = log.constants.logEventTypes[name];
  if (type === undefined) throw new Error(`the browser's log knows no ${name}`);
  return log.events.filter((event) => event.type === type).map(({ params }) => params ?? {});
}

/** The hosts, other than addresses, that the browser went to its resolver with. */
function lookups(file: string): string[] {
  const hosts = events(file, 'HOST_RESOLVER_MANAGER_REQUEST').flatMap(({ host }) => (host ? [String(host)] : []));
  return hosts.filter((host) => isIP(new URL(host).hostname.replace(/^\[(.*)\]$/, '$1')) === 0);
}

/** The addresses that it sent UDP to, by multicast too. */
function datagrams(file: string): string[] {
  return events(file, 'UDP_BYTES_SENT').map(({ address }) => String(address));
}

/** The distinct addresses that it opened TCP to. */
function connections(file: string): string[] {
  const attempts = events(file, 'TCP_CONNECT_ATTEMPT').map(({ address }) => String(address ?? ''));
  return [...new Set(attempts.filter((address) => address !== ''))];
}
