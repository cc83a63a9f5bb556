import type { Page } from 'playwright';
import type { SessionContext } from './session-context.js';

/**
 * Pages that stay open behind runs that ended well, for the next run of the same context: a new page costs a process,
 * a kept one a navigation. A page is *kept* until it is taken by a run, unused for long, pushed out, crashed, or gone
 * with its context.
 *
 * I1. At most `bound` pages are kept; the one unused the longest goes first.
 * I2. A context keeps one page at most, and only its own runs get it.
 */
export class WarmPages {
  #bound: number;
  #unused_ms: number;
  /** Insertion order is the order of last use. */
  #kept = new Map<SessionContext, Kept>();

  constructor(bound: number, unused_ms: number) {
    this.#bound = bound;
    this.#unused_ms = unused_ms;
  }

  get size(): number {
    return this.#kept.size;
  }

  keep(session: SessionContext, page: Page): void {
    if (this.#bound === 0 || page.isClosed()) {
      void page.close().catch(() => {});
      return;
    }
    this.#close(session);
    const kept: Kept = {
      page,
      expiry: setTimeout(() => this.#close(session), this.#unused_ms),
      closed: () => this.#forget(session),
      crashed: () => this.#close(session),
    };
    this.#kept.set(session, kept);
    page.once('close', kept.closed);
    page.once('crash', kept.crashed);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > this.#bound && oldest) this.#close(oldest);
  }

  /** The context's kept page, from now on the caller's. */
  take(session: SessionContext): Page | undefined {
    return this.#forget(session);
  }

  #close(session: SessionContext): void {
    void this.#forget(session)
      ?.close()
      .catch(() => {});
  }

  /** Takes off only what was put on: Playwright listens to its own pages, too. */
  #forget(session: SessionContext): Page | undefined {
    const kept = this.#kept.get(session);
    if (!kept) return undefined;
    this.#kept.delete(session);
    clearTimeout(kept.expiry);
    kept.page.off('close', kept.closed);
    kept.page.off('crash', kept.crashed);
    return kept.page;
  }
}

interface Kept {
  page: Page;
  expiry: NodeJS.Timeout;
  closed: () => void;
  crashed: () => void;
}
