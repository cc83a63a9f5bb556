import type { Browser, CDPSession } from 'playwright';
import { Deadline } from '../../storage/process/deadline.js';
import type { PoolLimits } from '../limits.js';
import { treeUse } from './process-tree.js';

/** What the checks report. */
export interface CheckReports {
  /** A probe or a canary failed: the browser is of no use any more. */
  failed(): void;
  /** The browser holds more memory than it may. */
  tooMuchMemory(): void;
}

/**
 * The repeated checks of one browser process, until `stop`.
 *
 * - The probe asks for the version. A stopped process still counts as connected, so only an answer proves that it lives.
 * - The canary makes a context and a page: a browser can answer probes and still be unable to make a page.
 * - The memory of its process tree is measured.
 */
export class BrowserChecks {
  readonly #browser: Browser;
  readonly #session: CDPSession;
  readonly #pid: number;
  readonly #limits: PoolLimits;
  readonly #reports: CheckReports;
  readonly #memoryTimer: NodeJS.Timeout;
  #probeTimer: NodeJS.Timeout | undefined;
  #canaryTimer: NodeJS.Timeout | undefined;
  #memory_mib = 0;

  constructor(browser: Browser, session: CDPSession, pid: number, limits: PoolLimits, reports: CheckReports) {
    this.#browser = browser;
    this.#session = session;
    this.#pid = pid;
    this.#limits = limits;
    this.#reports = reports;
    this.#scheduleProbe();
    this.#memoryTimer = setInterval(() => this.#measureMemory(), limits.memory_interval_ms);
    this.#scheduleCanary();
  }

  /** What the processes held at the last measurement, in MiB; 0 before it, and where it cannot be measured. */
  get memory_mib(): number {
    return this.#memory_mib;
  }

  /** Ends the checks; none reports afterwards. */
  stop(): void {
    clearTimeout(this.#probeTimer);
    this.#probeTimer = undefined;
    clearInterval(this.#memoryTimer);
    clearTimeout(this.#canaryTimer);
    this.#canaryTimer = undefined;
  }

  #scheduleProbe(): void {
    this.#probeTimer = setTimeout(() => void this.#probe(), this.#limits.probe_interval_ms);
  }

  async #probe(): Promise<void> {
    const alive = await succeedsWithin(this.#limits.probe_deadline_ms, this.#session.send('Browser.getVersion'));
    if (!this.#probeTimer) return;
    if (alive) this.#scheduleProbe();
    else this.#reports.failed();
  }

  /** One at a time: those of a slow browser would make it slower. */
  #scheduleCanary(): void {
    this.#canaryTimer = setTimeout(() => void this.#sendCanary(), this.#limits.canary_interval_ms);
  }

  /** A context with a page that calculates: what every run needs of a browser, of no session and on no site. */
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
    const alive = await succeedsWithin(this.#limits.canary_deadline_ms, canary());
    if (!this.#canaryTimer) return;
    if (alive) this.#scheduleCanary();
    else this.#reports.failed();
  }

  #measureMemory(): void {
    this.#memory_mib = treeUse(this.#pid)?.memory_mib ?? 0;
    if (this.#memory_mib > this.#limits.browser_memory_mib) this.#reports.tooMuchMemory();
  }
}

/** Whether `work` succeeds within the limit; its late end is ignored. */
export function succeedsWithin(limit_ms: number, work: Promise<unknown>): Promise<boolean> {
  return Deadline.within(limit_ms, work).then(
    () => true,
    () => false,
  );
}
