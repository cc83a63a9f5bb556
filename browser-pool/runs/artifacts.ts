import { chmod, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { BrowserContext, Page } from 'playwright';
import type { Logger } from '../../storage/log/log.js';
import { Deadline } from '../../storage/process/deadline.js';
import type { PoolLimits } from '../limits.js';

/** A run that failed, as its files are named after it. */
export interface FailedRun {
  connectionId: string;
  capability: string;
  code: string;
}

/** Fields that can be typed into: their contents are covered before a screenshot is taken. */
const TYPED = 'input, textarea, select, [contenteditable]';

/**
 * Keeps what shows an operator why a page program failed, when configured: a screenshot of the page and a Playwright
 * trace of the run, in a folder that only its owner can read.
 *
 * I1. No file holds a password or a code: a screenshot covers every field, and nothing is traced while one is typed. A
 *     run with credentials is not traced at all; one that meets a challenge discards its trace before it asks for the code.
 * I2. At most `artifacts` files are kept; the oldest are deleted.
 * I3. No run fails over it or waits longer than `artifacts_ms`: what cannot be kept in time is not kept.
 *
 * A trace does hold the session's cookies and the text of pages: protect the folder like the database.
 */
export class Artifacts {
  readonly #folder: string;
  readonly #limits: PoolLimits;
  readonly #log: Logger;

  constructor(folder: string, limits: PoolLimits, log: Logger) {
    this.#folder = folder;
    this.#limits = limits;
    this.#log = log;
  }

  /** Starts a trace; false when the context does not take one. */
  trace(context: BrowserContext): Promise<boolean> {
    const started = context.tracing.start({ screenshots: true, snapshots: true });
    return this.#inTime('start a trace', started, () => void this.discard(context));
  }

  /** Ends the trace without keeping it. */
  async discard(context: BrowserContext): Promise<void> {
    await this.#inTime('discard a trace', context.tracing.stop());
  }

  /** Keeps the page as it is and the trace, whichever there is. */
  async keep(run: FailedRun, page: Page | undefined, traced: BrowserContext | undefined): Promise<void> {
    await this.#inTime('keep what shows a failure', this.#write(run, page, traced));
  }

  async #write(run: FailedRun, page: Page | undefined, traced: BrowserContext | undefined): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const at = new Date().toISOString().replace(/[:.]/g, '-');
    const name = [at, run.connectionId, run.capability, run.code].join('_').replace(/[^\w.+-]/g, '-');
    if (page && !page.isClosed()) {
      await stopLoading(page); // an answer that never comes would delay the screenshot
      const image = await page.screenshot({ mask: [page.locator(TYPED)], timeout: this.#limits.artifacts_ms }); // I1
      await writeFile(join(this.#folder, `${name}.png`), image, { mode: 0o600 });
    }
    if (traced) {
      const file = join(this.#folder, `${name}.zip`);
      await traced.tracing.stop({ path: `${file}.part` });
      await chmod(`${file}.part`, 0o600);
      await rename(`${file}.part`, file);
    }
    await this.#prune();
  }

  /** I2. Names begin with their time, so that their order is their age. */
  async #prune(): Promise<void> {
    const kept = (await readdir(this.#folder)).filter((name) => /^\d{4}-.*\.(png|zip)$/.test(name)).sort();
    const surplus = kept.slice(0, Math.max(0, kept.length - this.#limits.artifacts));
    await Promise.all(surplus.map((name) => rm(join(this.#folder, name), { force: true })));
  }

  /** I3. Whether `work` succeeded in time; `late` undoes what it does afterwards. */
  async #inTime(what: string, work: Promise<unknown>, late: () => void = () => {}): Promise<boolean> {
    try {
      await Deadline.within(this.#limits.artifacts_ms, work, { discard: late });
      return true;
    } catch (error) {
      // The text of the error is left out: it quotes pages.
      this.#log.warn({ error: error instanceof Error ? error.name : 'unknown' }, `could not ${what}`);
      return false;
    }
  }
}

async function stopLoading(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send('Page.stopLoading');
  await session.detach();
}
