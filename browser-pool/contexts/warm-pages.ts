import type { Page } from 'playwright';
import { Deadline } from '../../storage/process/deadline.js';
import type { SessionContext } from './session-context.js';

/**
 * Pages that stay open behind runs that ended well, for the next run of the same context: a new page costs a process,
 * a kept one a navigation.
 *
 * A page is *kept* until a run takes it, it is unused for too long, a newer one displaces it, it crashes, or its context
 * closes.
 *
 * I1. At most `limit` pages are kept; the one unused the longest goes first.
 * I2. A context keeps one page at most, and only its own runs get it.
 */
export class WarmPages {
  readonly #limit: number;
  readonly #unused_ms: number;
  /** Insertion order is the order of last use. */
  readonly #kept = new Map<SessionContext, KeptPage>();

  constructor(limit: number, unused_ms: number) {
    this.#limit = limit;
    this.#unused_ms = unused_ms;
  }

  /** Pages kept. */
  get size(): number {
    return this.#kept.size;
  }

  /** Keeps the page for the context's next run, or closes it when none may be kept. */
  keep(session: SessionContext, page: Page): void {
    if (this.#limit === 0 || page.isClosed()) {
      void page.close().catch(() => {});
      return;
    }
    this.#close(session); // I2
    const kept: KeptPage = {
      page,
      unused: new Deadline(this.#unused_ms),
      closed: () => this.#forget(session),
      crashed: () => this.#close(session),
    };
    this.#kept.set(session, kept);
    kept.unused.signal.addEventListener('abort', () => this.#close(session));
    page.once('close', kept.closed);
    page.once('crash', kept.crashed);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > this.#limit && oldest) this.#close(oldest); // I1
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

  /** Removes only its own listeners: Playwright listens to its pages, too. */
  #forget(session: SessionContext): Page | undefined {
    const kept = this.#kept.get(session);
    if (!kept) return undefined;
    this.#kept.delete(session);
    kept.unused.stop();
    kept.page.off('close', kept.closed);
    kept.page.off('crash', kept.crashed);
    return kept.page;
  }
}

interface KeptPage {
  page: Page;
  unused: Deadline;
  closed: () => void;
  crashed: () => void;
}
