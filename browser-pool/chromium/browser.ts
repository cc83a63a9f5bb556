import { type Browser, type BrowserContext, type BrowserContextOptions, type CDPSession, chromium } from 'playwright';
import type { PoolLimits } from '../limits.js';
import { treeUse } from './process-tree.js';

/**
 * One Chromium process, watched.
 *
 * *running*: gives contexts. Probed every `probe_interval_ms`, weighed, and now and then given a canary.
 * *retiring* (made its share of contexts, or weighs too much): gives no more; closed when its last context is.
 * *gone* (it crashed, hung, or was closed): killed by process id if it still lives; announced once by `onGone`. The
 * contexts and pages it held are dead.
 *
 * A stopped process still counts as connected, so only a probe that it answers proves that it lives. A browser can
 * answer that and still be unable to make a page: the canary finds out.
 */
export class LiveBrowser {
  #browser: Browser;
  #session: CDPSession;
  #limits: PoolLimits;
  #contextsMade = 0;
  /** Contexts asked for and not there yet. */
  #making = 0;
  #contexts = new Set<BrowserContext>();
  #state: 'running' | 'retiring' | 'gone' = 'running';
  #probe: NodeJS.Timeout | undefined;
  #weighing: NodeJS.Timeout;
  #canary: NodeJS.Timeout;
  #memory_mib = 0;
  #goneHandlers = new Set<() => void>();

  /** Process id of the browser process itself, not of a script that starts it. */
  readonly pid: number;

  private constructor(browser: Browser, session: CDPSession, pid: number, limits: PoolLimits) {
    this.#browser = browser;
    this.#session = session;
    this.#limits = limits;
    this.pid = pid;
    browser.once('disconnected', () => this.#ended());
    this.#scheduleProbe();
    this.#weighing = setInterval(() => this.#weigh(), limits.memory_interval_ms);
    this.#canary = setInterval(() => void this.#sendCanary(), limits.canary_interval_ms);
  }

  /**
   * Starts the browser at `path`; `args` are added to Playwright's own, `sandboxed` keeps Chromium's own sandbox on.
   * Throws when it does not come up in time, or does not say its process id: then it is closed again.
   */
  static async launch(path: string, args: string[], sandboxed: boolean, limits: PoolLimits): Promise<LiveBrowser> {
    const browser = await chromium.launch({
      executablePath: path,
      headless: true,
      timeout: limits.launch_ms,
      chromiumSandbox: sandboxed,
      handleSIGINT: false,
      handleSIGTERM: false,
      handleSIGHUP: false,
      args,
    });
    let live: LiveBrowser | undefined;
    const watched = async () => {
      const session = await browser.newBrowserCDPSession();
      const { processInfo } = await session.send('SystemInfo.getProcessInfo');
      const pid = processInfo.find((process) => process.type === 'browser')?.id;
      if (pid !== undefined) live = new LiveBrowser(browser, session, pid, limits);
    };
    if ((await within(limits.launch_ms, watched())) && live) return live;
    await within(limits.close_ms, browser.close());
    throw new Error('the browser does not tell its process id');
  }

  get running(): boolean {
    return this.#state === 'running';
  }

  /** What its processes held when they were last weighed, in MiB; 0 before, and where nothing tells. */
  get memory_mib(): number {
    return this.#memory_mib;
  }

  get gone(): boolean {
    return this.#state === 'gone';
  }

  /**
   * Runs the handler once when the process is gone, whatever the reason; at once if it is already. Gives what takes
   * the handler off again.
   */
  onGone(handler: () => void): () => void {
    if (this.#state === 'gone') handler();
    else this.#goneHandlers.add(handler);
    return () => this.#goneHandlers.delete(handler);
  }

  /** Makes a context; the one that reaches the browser's share retires it. */
  async newContext(options: BrowserContextOptions): Promise<BrowserContext> {
    this.#making += 1;
    try {
      const context = await this.#browser.newContext(options);
      this.#contexts.add(context);
      this.#contextsMade += 1;
      if (this.#state === 'running' && this.#contextsMade >= this.#limits.browser_contexts) this.#state = 'retiring';
      return context;
    } finally {
      this.#making -= 1;
      void this.#closeUnused();
    }
  }

  /** Closes a context with its pages. One that cannot be closed in time takes the browser with it. */
  async closeContext(context: BrowserContext): Promise<void> {
    if (!this.#contexts.delete(context) || this.gone) return;
    if (!(await within(this.#limits.close_ms, context.close()))) this.kill();
    else await this.#closeUnused();
  }

  /** A retiring browser closes behind its last context; one that is being made is its last until it is there. */
  async #closeUnused(): Promise<void> {
    if (this.#state === 'retiring' && this.#contexts.size === 0 && this.#making === 0) await this.close();
  }

  /** Closes the browser, by force if it does not close in time. Resolves when it is gone. */
  async close(): Promise<void> {
    if (this.gone) return;
    const gone = new Promise<void>((resolve) => {
      this.onGone(resolve);
    });
    if (!(await within(this.#limits.close_ms, this.#browser.close()))) this.kill();
    await gone;
  }

  /** Ends the process at once. */
  kill(): void {
    if (this.gone) return;
    try {
      process.kill(this.pid, 'SIGKILL');
    } catch {
      // It is no more: that is what was asked for.
    }
    this.#ended();
  }

  #weigh(): void {
    this.#memory_mib = treeUse(this.pid)?.memory_mib ?? 0;
    if (this.#state !== 'running' || this.#memory_mib <= this.#limits.browser_memory_mib) return;
    this.#state = 'retiring';
    void this.#closeUnused();
  }

  /** A context with a page that calculates: what any run needs of a browser, of no session and on no site. */
  async #sendCanary(): Promise<void> {
    const canary = async () => {
      const context = await this.#browser.newContext();
      try {
        const page = await context.newPage();
        await page.evaluate('6 * 7');
      } finally {
        await context.close();
      }
    };
    if (!(await within(this.#limits.canary_deadline_ms, canary()))) this.kill();
  }

  #scheduleProbe(): void {
    this.#probe = setTimeout(async () => {
      const alive = await within(this.#limits.probe_deadline_ms, this.#session.send('Browser.getVersion'));
      if (this.gone) return;
      if (alive) this.#scheduleProbe();
      else this.kill();
    }, this.#limits.probe_interval_ms);
  }

  #ended(): void {
    if (this.gone) return;
    this.#state = 'gone';
    clearTimeout(this.#probe);
    clearInterval(this.#weighing);
    clearInterval(this.#canary);
    this.#contexts.clear();
    const handlers = [...this.#goneHandlers];
    this.#goneHandlers.clear();
    for (const handler of handlers) handler();
  }
}

/**
 * Whether `work` succeeds within `ms`. Its late end is swallowed. When the timer fires the answers that have already
 * arrived are read first, so that a stall of this thread is not taken for one of the browser.
 */
async function within(ms: number, work: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => setImmediate(() => setImmediate(resolve, false)), ms);
  });
  try {
    return await Promise.race([work.then(() => true), late]);
  } catch {
    return false;
  } finally {
    clearTimeout(timer);
  }
}
