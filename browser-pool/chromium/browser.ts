import { createRequire } from 'node:module';
import type { Browser, BrowserContext, BrowserContextOptions, CDPSession } from 'playwright';
import { childEnvironment } from '../../storage/process/child-environment.js';
import { Deadline } from '../../storage/process/deadline.js';
import { checkStep, type Steps } from '../../storage/process/steps.js';
import type { PoolLimits } from '../limits.js';
import { BrowserChecks, succeedsWithin } from './browser-checks.js';
import { confined } from './confinement.js';
import { egressArguments } from './egress.js';

/** Loads Playwright with the first browser: its bundle takes longer to load than all else in a browser thread. */
const require = createRequire(import.meta.url);

/** The options of a launch that are not bounds. */
export interface LaunchOptions {
  /** Of the executable. */
  path: string;
  /** Added to Playwright's own arguments. */
  args: string[];
  /** Whether Chromium's own sandbox stays on. */
  sandboxed: boolean;
  /** Root starts it as a user of its own. */
  ownUser?: boolean;
  /** Hosts of proxies that the browser resolves; it resolves no other. */
  names?: Iterable<string>;
}

/**
 * One Chromium process under repeated checks.
 *
 * - *running*: makes contexts.
 * - *retiring*: it made its share of contexts, or holds too much memory. It should make no more, and closes behind its
 *   last context.
 * - *gone*: it crashed, failed a check, or was closed. Killed by process id if it still lives. Its contexts and pages are
 *   dead. Final.
 *
 * I1. A retiring browser closes only when no context is open and none is being made.
 * I2. Each state is announced once, `gone` whatever the cause.
 */
export class LiveBrowser {
  /** Process id of the browser process itself, not of a script that starts it. */
  readonly pid: number;
  /** What its pages and requests say that they are. */
  readonly userAgent: string;
  readonly #browser: Browser;
  readonly #names: ReadonlySet<string>;
  readonly #limits: PoolLimits;
  readonly #checks: BrowserChecks;
  readonly #contexts = new Set<BrowserContext>();
  readonly #listeners = new Set<(state: BrowserState['kind']) => void>();
  #contextsMade = 0;
  /** Contexts requested and not made yet. */
  #making = 0;
  #state: BrowserState = { kind: 'running' };

  /** Use `launch`. */
  constructor(browser: Browser, { session, pid, userAgent }: Identity, names: Iterable<string>, limits: PoolLimits) {
    this.#browser = browser;
    this.#names = new Set(names);
    this.#limits = limits;
    this.pid = pid;
    this.userAgent = userAgent;
    browser.once('disconnected', () => this.#becomeGone());
    this.#checks = new BrowserChecks(browser, session, pid, limits, {
      failed: () => this.kill(),
      tooMuchMemory: () => this.retire(),
    });
  }

  /**
   * Starts a browser. Throws when it is not up in time, or does not report its process id: then it is closed again.
   */
  static async launch(options: LaunchOptions, limits: PoolLimits): Promise<LiveBrowser> {
    const { path, args, sandboxed, ownUser = false, names = [] } = options;
    const { chromium } = require('playwright') as typeof import('playwright');
    const browser = await confined(path, ownUser, (executablePath) =>
      chromium.launch({
        executablePath,
        headless: true,
        timeout: limits.launch_ms,
        chromiumSandbox: sandboxed,
        handleSIGINT: false,
        handleSIGTERM: false,
        handleSIGHUP: false,
        args: [...args, ...egressArguments(names)],
        env: childEnvironment(),
      }),
    );
    try {
      return new LiveBrowser(browser, await Deadline.within(limits.launch_ms, identify(browser)), names, limits);
    } catch {
      await succeedsWithin(limits.close_ms, browser.close());
      throw new Error('the browser does not report its process id');
    }
  }

  get running(): boolean {
    return this.#state.kind === 'running';
  }

  get gone(): boolean {
    return this.#state.kind === 'gone';
  }

  /** Whether it resolves this host. */
  resolves(name: string): boolean {
    return this.#names.has(name);
  }

  /** What its processes held when last measured, in MiB; 0 before that, and where it cannot be measured. */
  get memory_mib(): number {
    return this.#checks.memory_mib;
  }

  /** Calls the listener with each state that is entered from now on. Returns what takes the listener off again. */
  onState(listener: (state: BrowserState['kind']) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Calls the handler once when the browser is gone, at once if it already is. Returns what takes the handler off again. */
  onGone(handler: () => void): () => void {
    if (!this.gone) return this.onState((state) => state === 'gone' && handler());
    handler();
    return () => {};
  }

  /** Makes a context; the one that reaches the browser's share retires it. */
  async newContext(options: BrowserContextOptions): Promise<BrowserContext> {
    this.#making += 1;
    try {
      const context = await this.#browser.newContext(options);
      this.#contexts.add(context);
      this.#contextsMade += 1;
      if (this.#contextsMade >= this.#limits.browser_contexts) this.retire();
      return context;
    } finally {
      this.#making -= 1;
      void this.#closeUnused();
    }
  }

  /** Closes a context with its pages. A context that does not close in time takes the browser with it. */
  async closeContext(context: BrowserContext): Promise<void> {
    if (!this.#contexts.delete(context) || this.gone) return;
    if (!(await succeedsWithin(this.#limits.close_ms, context.close()))) this.kill();
    else await this.#closeUnused();
  }

  /** Closes the browser, by force if it does not close in time. Resolves when it is gone. */
  async close(): Promise<void> {
    if (this.gone) return;
    const gone = new Promise<void>((resolve) => {
      this.onGone(resolve);
    });
    if (!(await succeedsWithin(this.#limits.close_ms, this.#browser.close()))) this.kill();
    await gone;
  }

  /** Ends the process at once. */
  kill(): void {
    if (this.gone) return;
    try {
      process.kill(this.pid, 'SIGKILL');
    } catch {
      // The process has ended already.
    }
    this.#becomeGone();
  }

  /** Has it make no more contexts, and close behind its last one. */
  retire(): void {
    if (!this.running) return;
    this.#enter({ kind: 'retiring' });
    void this.#closeUnused();
  }

  /** I1. */
  async #closeUnused(): Promise<void> {
    if (this.#state.kind === 'retiring' && this.#contexts.size === 0 && this.#making === 0) await this.close();
  }

  #becomeGone(): void {
    if (this.gone) return;
    this.#checks.stop();
    this.#contexts.clear();
    this.#enter({ kind: 'gone' });
    this.#listeners.clear();
  }

  #enter(next: BrowserState): void {
    checkStep('browser', STEPS, this.#state.kind, next.kind);
    this.#state = next;
    for (const listener of [...this.#listeners]) listener(next.kind); // I2
  }
}

type BrowserState = { kind: 'running' } | { kind: 'retiring' } | { kind: 'gone' };

const STEPS: Steps<BrowserState['kind']> = {
  running: ['retiring', 'gone'],
  retiring: ['gone'],
  gone: [],
};

/** The browser's own session of the DevTools protocol, the id of its process, and what it says that it is. */
interface Identity {
  session: CDPSession;
  pid: number;
  userAgent: string;
}

async function identify(browser: Browser): Promise<Identity> {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  const pid = processInfo.find((process) => process.type === 'browser')?.id;
  if (pid === undefined) throw new Error('no browser among the processes');
  const { userAgent } = await session.send('Browser.getVersion');
  return { session, pid, userAgent };
}
