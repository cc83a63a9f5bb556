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
  #kept = new Map<SessionContext, { page: Page; expiry: NodeJS.Timeout }>();

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
    const expiry = setTimeout(() => this.#close(session), this.#unused_ms);
    this.#kept.set(session, { page, expiry });
    page.once('close', () => this.#forget(session, page));
    page.once('crash', () => this.#forget(session, page) && void page.close().catch(() => {}));
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > this.#bound && oldest) this.#close(oldest);
  }

  /** The context's kept page, from now on the caller's. */
  take(session: SessionContext): Page | undefined {
    const page = this.#kept.get(session)?.page;
    if (page) this.#forget(session, page);
    return page;
  }

  #close(session: SessionContext): void {
    void this.take(session)
      ?.close()
      .catch(() => {});
  }

  #forget(session: SessionContext, page: Page): boolean {
    const kept = this.#kept.get(session);
    if (kept?.page !== page) return false;
    clearTimeout(kept.expiry);
    page.removeAllListeners('close');
    page.removeAllListeners('crash');
    return this.#kept.delete(session);
  }
}
