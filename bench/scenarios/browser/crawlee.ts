import { execFile } from 'node:child_process';
import { access, mkdir, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { chromium, type Page } from 'playwright';
import { findBrowser } from '../../../browser-pool/chromium/find-browser.js';
import { LIMITS } from '../../kit/limits.js';
import type { BenchAccount } from './host.js';
import type { BenchNetwork } from './network.js';

/** As much of the package as the comparison uses; it is no dependency of the project, so its types are not here. */
interface BrowserPool {
  newPage(options: { pageOptions: Record<string, unknown> }): Promise<Page>;
  destroy(): Promise<void>;
}

interface CrawleeModule {
  BrowserPool: new (options: Record<string, unknown>) => BrowserPool;
  PlaywrightPlugin: new (library: unknown, options: Record<string, unknown>) => unknown;
}

const NAME = '@crawlee/browser-pool';
const VERSION = '3.18.1';

/** Loads the package from a folder of its own, where it is installed on first use. Throws when it cannot be had. */
export async function loadCrawlee(say: (line: string) => void): Promise<CrawleeModule> {
  const folder = join(process.cwd(), '.data/bench/crawlee');
  const installed = await access(join(folder, 'node_modules', NAME, 'package.json')).then(
    () => true,
    () => false,
  );
  if (!installed) {
    say(`installing ${NAME} ${VERSION} into .data/bench/crawlee, for this comparison only`);
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'package.json'), '{"private":true}\n');
    const install = ['install', '--no-audit', '--no-fund', '--ignore-scripts', `${NAME}@${VERSION}`];
    await promisify(execFile)('npm', install, { cwd: folder, timeout: LIMITS.install_ms });
  }
  return createRequire(join(folder, 'package.json'))(NAME) as CrawleeModule;
}

/** Runs in the page, where there are no modules. */
const FETCH_ME = `async ([path, cookie, header]) => {
  const csrf = document.cookie.split('; ').find((one) => one.startsWith(cookie + '=')).slice(cookie.length + 1);
  const answer = await fetch(path, { headers: { [header]: csrf } });
  if (!answer.ok) throw new Error('refused');
  return (await answer.json()).data.hashId;
}`;

/** The other pool with the sessions of these accounts, and its two kinds of work for the worker of a number. */
export class CrawleePool implements AsyncDisposable {
  readonly #pool: BrowserPool;
  readonly #network: BenchNetwork;
  readonly #accounts: BenchAccount[];

  constructor({ BrowserPool, PlaywrightPlugin }: CrawleeModule, network: BenchNetwork, accounts: BenchAccount[]) {
    const plugin = new PlaywrightPlugin(chromium, {
      useIncognitoPages: true,
      launchOptions: {
        executablePath: findBrowser(),
        headless: true,
        args: ['--no-sandbox', `--ignore-certificate-errors-spki-list=${network.site.spki}`],
      },
    });
    this.#pool = new BrowserPool({ browserPlugins: [plugin], useFingerprints: false, maxOpenPagesPerBrowser: 100 });
    this.#network = network;
    this.#accounts = accounts;
  }

  /** Opens the feed and reads who is signed in. */
  page(worker: number): Promise<unknown> {
    return this.#withFeed(worker, async () => undefined);
  }

  /** Opens the feed and fetches one endpoint inside the page. */
  json(worker: number): Promise<unknown> {
    const { endpoints, csrf } = this.#network.site;
    return this.#withFeed(worker, (page) => page.evaluate(FETCH_ME, [endpoints.me.path, csrf.cookie, csrf.header]));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#pool.destroy();
  }

  async #withFeed(worker: number, work: (page: Page) => Promise<unknown>): Promise<void> {
    const { site, proxy } = this.#network;
    const { server, username = '', password = '' } = proxy;
    const storageState = JSON.parse(this.#accounts[worker]?.session ?? '{}') as Record<string, unknown>;
    const page = await this.#pool.newPage({ pageOptions: { storageState, proxy: { server, username, password } } });
    try {
      await page.goto(site.origin + site.paths.feed);
      if (!(await page.locator(site.selectors.identity).getAttribute('data-hash-id'))) throw new Error('signed out');
      await work(page);
    } finally {
      await page.close();
    }
  }
}
