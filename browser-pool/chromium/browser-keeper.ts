import type { Logger } from '../../storage/log.js';
import { browserUnavailable } from '../failures.js';
import type { PoolLimits } from '../limits.js';
import type { BrowserStats } from '../messages.js';
import { LiveBrowser } from './browser.js';
import { findBrowser } from './find-browser.js';

/**
 * Keeps one browser at hand: launched when the first run needs it, replaced when it is retired or gone.
 *
 * *none* → (a run needs it) → *starting* → *running*; a failed start → *unavailable* until its pause is over, and
 * meanwhile runs fail at once instead of queueing behind launches; *running* → (gone or retired) → *none*.
 * At most one browser is current; retired ones close themselves behind their last context.
 */
export class BrowserKeeper {
  #args: string[];
  #limits: PoolLimits;
  #log: Logger;
  #current: LiveBrowser | undefined;
  #starting: Promise<LiveBrowser> | undefined;
  #alive = new Set<LiveBrowser>();
  #failures = 0;
  #notBefore = 0;
  #closed = false;
  #restarts = 0;
  #launched = 0;
  /** Chromium's sandbox refuses to run as root, and where the system forbids what it needs. */
  #sandboxed = process.getuid?.() !== 0;

  constructor(args: string[], limits: PoolLimits, log: Logger) {
    this.#args = args;
    this.#limits = limits;
    this.#log = log;
  }

  get state(): BrowserStats['browser'] {
    if (this.#starting) return 'starting';
    if (this.#current?.running) return 'running';
    return performance.now() < this.#notBefore ? 'unavailable' : 'none';
  }

  /** What every browser that lives held when it was last weighed, in MiB. */
  get memory_mib(): number {
    return Math.round([...this.#alive].reduce((sum, browser) => sum + browser.memory_mib, 0));
  }

  /** Browsers launched after the first one. */
  get restarts(): number {
    return this.#restarts;
  }

  /** The browser for a new context. Rejects with `browser_unavailable`. */
  async current(): Promise<LiveBrowser> {
    if (this.#closed) throw browserUnavailable('draining');
    if (this.#current?.running) return this.#current;
    if (performance.now() < this.#notBefore) throw browserUnavailable('launch_failed');
    this.#starting ??= this.#launch().finally(() => {
      this.#starting = undefined;
    });
    return this.#starting;
  }

  /** Closes every browser and launches none any more. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#starting?.catch(() => {});
    await Promise.all([...this.#alive].map((browser) => browser.close()));
  }

  async #launch(): Promise<LiveBrowser> {
    const path = findBrowser();
    if (path === null) throw browserUnavailable('not_installed', false);
    try {
      const browser = await LiveBrowser.launch(path, this.#args, this.#sandboxed, this.#limits);
      this.#failures = 0;
      if (this.#launched > 0) this.#restarts += 1;
      this.#launched += 1;
      this.#alive.add(browser);
      browser.onGone(() => {
        this.#alive.delete(browser);
        this.#log.info({ pid: browser.pid }, 'browser gone');
      });
      this.#log.info({ pid: browser.pid, path }, 'browser launched');
      this.#current = browser;
      return browser;
    } catch (error) {
      if (this.#sandboxed && error instanceof Error && /sandbox/i.test(error.message)) {
        this.#log.warn('the browser cannot use its sandbox here and runs without it');
        this.#sandboxed = false;
        return this.#launch();
      }
      const pause_ms = Math.min(this.#limits.launch_retry_ms * 2 ** this.#failures, this.#limits.launch_retry_max_ms);
      this.#failures += 1;
      this.#notBefore = performance.now() + pause_ms;
      this.#log.error({ err: error, path, pause_ms }, 'browser did not start');
      throw browserUnavailable('launch_failed');
    }
  }
}
