import { number, reportOf } from '../kit/report.js';
import { defineScenario, type OptionValues, type Report } from '../kit/scenario.js';
import { CrawleePool, loadCrawlee } from './browser/crawlee.js';
import { type BenchAccount, type BenchHost, startHost } from './browser/host.js';
import { type BenchNetwork, startNetwork } from './browser/network.js';
import { measureRate, type Rate, type Work } from './browser/rate.js';

const OPTIONS = {
  seconds: { means: 'how long to measure each kind at each size', default: 5 },
  sizes: { means: 'how many at once, one after another', default: '1,2,4,8' },
};
type Options = OptionValues<typeof OPTIONS>;

interface Measured extends Rate {
  work: string;
  concurrency: number;
}

const NOT_MEASURED = [
  'distance: network and proxies are on this machine and share its cores; their processor time is left out',
  'the rest of the service: runs come straight to the browser host, without database, actors or HTTP',
  'heavy pages: the feed of the stand-in network is small, so a real one narrows the gap between cold and warm',
];

/**
 * What an operation costs with a cold page each time, on a warm one, and through the context's request API, beside
 * the same work on another browser pool. Page work opens the feed and reads who is signed in; JSON work is one
 * endpoint. The other pool has no request API of a session: for JSON it opens the feed and fetches inside the page.
 */
export const browser = defineScenario({
  name: 'browser',
  summary: 'operations a second of the browser pool: cold, warm, without a page; beside @crawlee/browser-pool',
  options: OPTIONS,
  async run(options, say) {
    const sizes = options.sizes.split(',').map(Number);
    await using network = await startNetwork();
    const measured: Measured[] = [];
    const measure = async (work: string, concurrency: number, once: Work) => {
      say(`${work}, ${concurrency} at once`);
      measured.push({ work, concurrency, ...(await measureRate(once, concurrency, options.seconds)) });
    };
    const accounts = await measureOwnPool(network, sizes, measure);
    const missing = await measureCrawlee(network, accounts, sizes, measure, say);
    return report(measured, sizes, missing, options);
  },
});

type Measure = (work: string, concurrency: number, once: Work) => Promise<void>;

/** Measures the project's pool and gives the accounts it signed in. */
async function measureOwnPool(network: BenchNetwork, sizes: number[], measure: Measure): Promise<BenchAccount[]> {
  await using host = startHost(network, { pages: Math.max(...sizes), warm_pages: Math.max(...sizes) });
  const accounts = await signIn(host, Math.max(...sizes));
  const account = (worker: number) => accounts[worker] as BenchAccount;
  for (const size of sizes) {
    let revision = 2;
    await measure('cold page', size, (worker) => {
      // A connection without a context: one is made for this run and closed after it.
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

/** Measures the other pool with the same sessions; gives the reason when it cannot be installed. */
async function measureCrawlee(
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
  await using pool = new CrawleePool(module, network, accounts);
  for (const size of sizes) {
    await measure('crawlee page', size, (worker) => pool.page(worker));
    await measure('crawlee json', size, (worker) => pool.json(worker));
  }
  return undefined;
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
    method: 'so many workers at once, each beginning the next run when its last has ended, for a time',
    lines: [
      `${'at once'.padEnd(13)}${sizes.map((size) => String(size).padStart(18)).join('')}`,
      ...kinds.map((kind) => `${kind.padEnd(13)}${sizes.map((size) => cell(find(kind, size))).join('')}`),
      '',
      'each cell: operations a second, processor milliseconds of one (?: a browser ended meanwhile and took its count along)',
    ],
    costs:
      'each cell has the processor time of the pool with its browsers; no service and no PostgreSQL take part, so nothing is logged',
    ratios: missing ?? ratioLines(sizes, ratios),
    sampled: `${number(measured.reduce((sum, { done }) => sum + done, 0))} operations, one round of ${options.seconds} s for each cell`,
    notMeasured: NOT_MEASURED,
    data: { measured, ratios },
  });
}

const ratioLines = (sizes: number[], { page, json }: { page: string[]; json: string[] }): string[] => [
  `${page.join(', ')} warm pages for each of crawlee's at ${sizes.join(', ')} at once (wanted: 3)`,
  `${json.join(', ')} for each of its JSON requests (wanted: 20)`,
];
