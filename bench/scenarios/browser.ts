import { chromium, type Page } from 'playwright';
import typia from 'typia';
import { findBrowser } from '../../browser-pool/chromium/find-browser.js';
import { treeUse } from '../../browser-pool/chromium/process-tree.js';
import { type CrawleePool, loadCrawlee } from '../browser/crawlee.js';
import { type BenchAccount, type BenchHost, startHost } from '../browser/host.js';
import { type BenchNetwork, startNetwork } from '../browser/network.js';
import { reportOf } from '../report.js';
import type { Report, Scenario } from '../scenario.js';

interface Options {
  seconds: number;
  sizes: string;
}

/** One kind of work: does it once for the worker of this number. */
type Work = (worker: number) => Promise<unknown>;

interface Measured {
  work: string;
  concurrency: number;
  perSecond: number;
  cpu_ms: number;
}

const NOT_MEASURED = [
  'distance: network and proxies are on this machine and share its cores; their processor time is left out',
  'the rest of the service: runs come straight to the browser host, without database, actors or HTTP',
  'heavy pages: the feed of the stand-in network is small, so a real one narrows the gap between cold and warm',
];

/**
 * What an operation costs with a page each time cold, on a warm lease, and through the context's request API, beside
 * the same work on another browser pool. Page work is a look at the feed and at who is signed in; JSON work is one
 * endpoint. The other pool has no request API of a session: for JSON it opens the feed and fetches inside the page.
 */
export const browser: Scenario = {
  name: 'browser',
  summary: 'operations a second of the browser pool: cold, warm, without a page; beside @crawlee/browser-pool',
  options: [
    { flag: '--seconds', means: 'how long to measure each kind at each size', default: 5 },
    { flag: '--sizes', means: 'how many at once, one after another', default: '1,2,4,8' },
  ],
  async run(given, say) {
    const options = typia.assert<Options>(given);
    const sizes = options.sizes.split(',').map(Number);
    await using network = await startNetwork();
    const measured: Measured[] = [];
    const measure = async (work: string, concurrency: number, once: Work) => {
      say(`${work}, ${concurrency} at once`);
      measured.push({ work, concurrency, ...(await rate(once, concurrency, options.seconds)) });
    };
    const accounts = await ownPool(network, sizes, measure);
    const missing = await crawlee(network, accounts, sizes, measure, say);
    return report(measured, sizes, missing, options);
  },
};

type Measure = (work: string, concurrency: number, once: Work) => Promise<void>;

/** Measures the project's pool and gives the accounts it signed in. */
async function ownPool(network: BenchNetwork, sizes: number[], measure: Measure): Promise<BenchAccount[]> {
  await using host = startHost(network, { pages: Math.max(...sizes), warm_pages: Math.max(...sizes) });
  const accounts = await signIn(host, Math.max(...sizes));
  const account = (worker: number) => accounts[worker] as BenchAccount;
  for (const size of sizes) {
    let revision = 2;
    await measure('cold page', size, (worker) => {
      // A connection nobody has seen: its context is made for this run and closed behind it.
      const connectionId = `cold ${worker} ${revision++}`;
      return host.run({ ...host.order(account(worker), 'social.health.check'), connectionId });
    });
    await measure('warm page', size, (worker) => host.run(host.order(account(worker), 'social.health.check')));
    await measure('json', size, (worker) => host.run(host.order(account(worker), 'social.identity.get')));
  }
  return accounts;
}

async function signIn(host: BenchHost, count: number): Promise<BenchAccount[]> {
  const accounts: BenchAccount[] = [];
  for (let number = 0; number < count; number++) {
    const account: BenchAccount = { username: `bench-${number}`, session: null, actorId: null };
    const { session = null, actorId = null } = await host.run(host.order(account, 'social.login'));
    accounts.push({ ...account, session, actorId });
  }
  return accounts;
}

/** Measures the other pool with the same sessions; gives why it could not, when it could not. */
async function crawlee(
  network: BenchNetwork,
  accounts: BenchAccount[],
  sizes: number[],
  measure: Measure,
  say: (line: string) => void,
): Promise<string | undefined> {
  let module: Awaited<ReturnType<typeof loadCrawlee>>;
  try {
    module = await loadCrawlee(say);
  } catch (error) {
    return `@crawlee/browser-pool could not be installed here: ${String(error).split('\n', 1)[0]}`;
  }
  const { site, proxy } = network;
  const plugin = new module.PlaywrightPlugin(chromium, {
    useIncognitoPages: true,
    launchOptions: {
      executablePath: findBrowser(),
      headless: true,
      args: ['--no-sandbox', `--ignore-certificate-errors-spki-list=${site.spki}`],
    },
  });
  const pool: CrawleePool = new module.BrowserPool({
    browserPlugins: [plugin],
    useFingerprints: false,
    maxOpenPagesPerBrowser: 100,
  });
  const { server, username = '', password = '' } = proxy;
  const withPage = async (worker: number, look: (page: Page) => Promise<unknown>) => {
    const state = JSON.parse(accounts[worker]?.session ?? '{}') as Record<string, unknown>;
    const pageOptions = { storageState: state, proxy: { server, username, password } };
    const page = await pool.newPage({ pageOptions });
    try {
      await page.goto(site.origin + site.paths.feed);
      if (!(await page.locator(site.selectors.identity).getAttribute('data-hash-id'))) throw new Error('signed out');
      await look(page);
    } finally {
      await page.close();
    }
  };
  const me = (page: Page) => page.evaluate(FETCH_ME, [site.paths.me, site.csrf.cookie, site.csrf.header]);
  try {
    for (const size of sizes) {
      await measure('crawlee page', size, (worker) => withPage(worker, async () => undefined));
      await measure('crawlee json', size, (worker) => withPage(worker, me));
    }
    return undefined;
  } finally {
    await pool.destroy();
  }
}

/** Runs in the page, where there are no modules. */
const FETCH_ME = `async ([path, cookie, header]) => {
  const csrf = document.cookie.split('; ').find((one) => one.startsWith(cookie + '=')).slice(cookie.length + 1);
  const answer = await fetch(path, { headers: { [header]: csrf } });
  if (!answer.ok) throw new Error('refused');
  return (await answer.json()).data.hashId;
}`;

/** Operations a second and processor time of each, of this process with its browsers, after one turn unmeasured. */
async function rate(once: Work, concurrency: number, seconds: number): Promise<{ perSecond: number; cpu_ms: number }> {
  const workers = Array.from({ length: concurrency }, (_, worker) => worker);
  await Promise.all(workers.map(once));
  const [cpu, started] = [ownCpu(), performance.now()];
  const until = started + seconds * 1_000;
  let done = 0;
  await Promise.all(
    workers.map(async (worker) => {
      while (performance.now() < until) {
        await once(worker);
        done += 1;
      }
    }),
  );
  return { perSecond: (done * 1_000) / (performance.now() - started), cpu_ms: (ownCpu() - cpu) / done };
}

/** Milliseconds of this process and its browsers; the network's processes are not counted. */
function ownCpu(): number {
  return treeUse(process.pid, (command) => !command.includes('/sandbox/main.js'))?.cpu_ms ?? Number.NaN;
}

function report(measured: Measured[], sizes: number[], missing: string | undefined, options: Options): Promise<Report> {
  const find = (work: string, size: number) => measured.find((m) => m.work === work && m.concurrency === size);
  const kinds = [...new Set(measured.map(({ work }) => work))];
  const cell = (one: Measured | undefined) =>
    one
      ? `${one.perSecond.toFixed(1)}/s ${one.cpu_ms > 0 ? one.cpu_ms.toFixed(0) : '?'} ms`.padStart(18)
      : ''.padStart(18);
  const ratio = (ours: string, theirs: string) =>
    sizes.map((size) =>
      ((find(ours, size)?.perSecond ?? 0) / (find(theirs, size)?.perSecond ?? Number.NaN)).toFixed(1),
    );
  const ratios = missing
    ? { page: [], json: [] }
    : { page: ratio('warm page', 'crawlee page'), json: ratio('json', 'crawlee json') };
  return reportOf({
    scenario: 'browser',
    options,
    lines: [
      `${'at once'.padEnd(13)}${sizes.map((size) => String(size).padStart(18)).join('')}`,
      ...kinds.map((kind) => `${kind.padEnd(13)}${sizes.map((size) => cell(find(kind, size))).join('')}`),
      '',
      missing ?? `warm page against crawlee, times: ${ratios.page.join(', ')}   (wanted: 3)`,
      ...(missing ? [] : [`json against crawlee, times: ${ratios.json.join(', ')}   (wanted: 20)`]),
      'each cell: operations a second, processor milliseconds of one (?: a browser ended meanwhile and took its count along)',
    ],
    notMeasured: NOT_MEASURED,
    data: { measured, ratios },
  });
}
