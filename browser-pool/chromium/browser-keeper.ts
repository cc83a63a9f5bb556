import type { Logger } from '../../storage/log/log.js';
import { Backoff } from '../../storage/process/backoff.js';
import { checkStep, type Steps } from '../../storage/process/steps.js';
import { browserUnavailable } from '../failures.js';
import type { PoolLimits } from '../limits.js';
import type { BrowserStats } from '../messages.js';
import { LiveBrowser } from './browser.js';
import { type Confinement, confinements, type SandboxSetting } from './confinement.js';
import { findBrowser } from './find-browser.js';

/**
 * Keeps one browser ready: launches it when the first run needs it, replaces it when it is retired or gone.
 *
 * - *none*: no current browser. A run that needs one starts it.
 * - *starting*: one launch, which further runs wait for.
 * - *running*: the current browser; *none* again when it is retiring or gone.
 * - *unavailable*: a launch failed; runs fail at once, so that they do not queue behind launches. A run after the wait
 *   starts the next one.
 * - *closed*: runs are refused. Final.
 *
 * I1. At most one browser is current; retired ones close themselves behind their last context.
 * I2. After `close` no browser lives, a launch that was under way included.
 */
export class BrowserKeeper {
  readonly #args: string[];
  readonly #limits: PoolLimits;
  readonly #log: Logger;
  readonly #backoff: Backoff;
  readonly #alive = new Set<LiveBrowser>();
  /** Hosts of proxies that every browser from now on resolves itself. As many as the operator registered. */
  readonly #names = new Set<string>();
  #launched = 0;
  readonly #sandbox: SandboxSetting;
  /** In what a browser of `path` is kept: the first entry that works. */
  #confinements: { path: string; left: Confinement[] } | undefined;
  #warned = false;
  #state: KeeperState = { kind: 'none' };

  constructor(args: string[], limits: PoolLimits, log: Logger, sandbox: SandboxSetting = 'auto') {
    this.#args = args;
    this.#sandbox = sandbox;
    this.#limits = limits;
    this.#log = log;
    this.#backoff = new Backoff({ first_ms: limits.launch_retry_ms, cap_ms: limits.launch_retry_cap_ms });
  }

  /** The state as the stats report it. */
  get state(): BrowserStats['browser'] {
    const state = this.#state;
    switch (state.kind) {
      case 'none':
      case 'starting':
      case 'running':
        return state.kind;
      case 'unavailable':
        return performance.now() < state.until ? 'unavailable' : 'none';
      case 'closed':
        return 'none';
      default:
        return state satisfies never;
    }
  }

  /** What all living browsers held when last measured, in MiB. */
  get memory_mib(): number {
    return Math.round([...this.#alive].reduce((sum, browser) => sum + browser.memory_mib, 0));
  }

  /** Browsers launched after the first one. */
  get restarts(): number {
    return Math.max(0, this.#launched - 1);
  }

  /**
   * The browser for a new context; with a name, one that resolves this host: the current one is retired when it does not.
   * Rejects with `browser_unavailable`.
   */
  async current(name: string | null = null): Promise<LiveBrowser> {
    if (name !== null) this.#names.add(name);
    const browser = await this.#current();
    if (name === null || browser.resolves(name)) return browser;
    browser.retire();
    return this.current(name);
  }

  async #current(): Promise<LiveBrowser> {
    const state = this.#state;
    switch (state.kind) {
      case 'none':
        return this.#start();
      case 'starting':
        return state.launch;
      case 'running':
        return state.browser;
      case 'unavailable':
        if (performance.now() < state.until) throw browserUnavailable('launch_failed');
        return this.#start();
      case 'closed':
        throw browserUnavailable('draining');
      default:
        return state satisfies never;
    }
  }

  /** Closes every browser and launches none any more. */
  async close(): Promise<void> {
    const launch = this.#state.kind === 'starting' ? this.#state.launch : undefined;
    if (this.#state.kind !== 'closed') this.#enter({ kind: 'closed' });
    await launch?.catch(() => {});
    await Promise.all([...this.#alive].map((browser) => browser.close())); // I2
  }

  #start(): Promise<LiveBrowser> {
    const path = findBrowser();
    if (path === null) throw browserUnavailable('not_installed', false);
    const launch = this.#launch(path);
    this.#enter({ kind: 'starting', launch });
    return launch;
  }

  async #launch(path: string): Promise<LiveBrowser> {
    const left = this.#confinementsOf(path);
    const [confinement] = left;
    const launched = await this.#launchIn(confinement, path).catch((error: unknown) => ({ error }));
    if (launched instanceof LiveBrowser) {
      this.#log.info({ pid: launched.pid, path, ...confinement }, 'browser: launched');
      if (!confinement?.sandboxed) this.#warn();
      this.#adopt(launched);
      return launched;
    }
    const { error } = launched;
    if (left.length > 1 && error instanceof Error && /sandbox/i.test(error.message)) {
      left.shift();
      return this.#launch(path);
    }
    const pause_ms = this.#backoff.next_ms();
    this.#log.error({ err: error, path, pause_ms }, 'browser: it did not start');
    if (this.#state.kind === 'starting') this.#enter({ kind: 'unavailable', until: performance.now() + pause_ms });
    throw browserUnavailable('launch_failed');
  }

  async #launchIn(confinement: Confinement | undefined, path: string): Promise<LiveBrowser> {
    if (!confinement) throw new Error('BROWSER_SANDBOX is on, and the browser cannot use its sandbox here');
    return LiveBrowser.launch({ path, args: this.#args, names: [...this.#names], ...confinement }, this.#limits);
  }

  #confinementsOf(path: string): Confinement[] {
    if (this.#confinements?.path !== path) this.#confinements = { path, left: confinements(path, this.#sandbox) };
    return this.#confinements.left;
  }

  #warn(): void {
    if (this.#warned) return;
    this.#warned = true;
    this.#log.warn(
      this.#sandbox === 'off'
        ? 'the browser runs without its sandbox: BROWSER_SANDBOX is off'
        : 'the browser runs without its sandbox: allow user namespaces to unprivileged users, and, where the service runs as root, have setpriv and a browser that every user may execute; BROWSER_SANDBOX=on refuses to go on without',
    );
  }

  #adopt(browser: LiveBrowser): void {
    this.#launched += 1;
    this.#backoff.reset();
    this.#alive.add(browser);
    browser.onState(() => {
      if (this.#state.kind === 'running' && this.#state.browser === browser) this.#enter({ kind: 'none' }); // I1
    });
    browser.onGone(() => {
      this.#alive.delete(browser);
      this.#log.info({ pid: browser.pid }, 'browser: gone');
    });
    if (this.#state.kind === 'starting') this.#enter(browser.running ? { kind: 'running', browser } : { kind: 'none' });
  }

  #enter(next: KeeperState): void {
    checkStep('browser keeper', STEPS, this.#state.kind, next.kind);
    this.#state = next;
  }
}

type KeeperState =
  | { kind: 'none' }
  | { kind: 'starting'; launch: Promise<LiveBrowser> }
  | { kind: 'running'; browser: LiveBrowser }
  | { kind: 'unavailable'; until: number }
  | { kind: 'closed' };

const STEPS: Steps<KeeperState['kind']> = {
  none: ['starting', 'closed'],
  starting: ['running', 'none', 'unavailable', 'closed'],
  running: ['none', 'closed'],
  unavailable: ['starting', 'closed'],
  closed: [],
};
