import type { Page } from 'playwright';
import type { SessionContext } from '../contexts/session-context.js';
import type { WarmPages } from '../contexts/warm-pages.js';

/**
 * The one page of a run. *closed* → (asked for) → *open*, holding a page slot → (the run waits for the user) →
 * *resting*: the slot is given back, the page stays → (asked for) → *open* again, or (rested for long) → *closed*,
 * remembering its address, where the next `open` goes back to.
 */
export class RunPage {
  #lease: () => Promise<() => void>;
  #warm: WarmPages;
  #session: SessionContext | undefined;
  #page: Page | undefined;
  #releaseSlot: (() => void) | undefined;
  #rest: NodeJS.Timeout | undefined;
  #address: string | undefined;
  #ended = false;

  /** `lease` waits for a page slot and gives what releases it. */
  constructor(lease: () => Promise<() => void>, warm: WarmPages) {
    this.#lease = lease;
    this.#warm = warm;
  }

  get isOpen(): boolean {
    return this.#page !== undefined;
  }

  /** The page as it stands, to be looked at only. */
  get current(): Page | undefined {
    return this.#page;
  }

  async open(session: SessionContext, navigation_ms: number): Promise<Page> {
    this.#releaseSlot ??= await this.#lease();
    if (this.#ended) {
      this.#release();
      throw new Error('the run has ended');
    }
    clearTimeout(this.#rest);
    if (this.#page && !this.#page.isClosed()) return this.#page;
    const page = this.#warm.take(session) ?? (await session.newPage());
    this.#session = session;
    page.setDefaultTimeout(navigation_ms);
    this.#page = page;
    if (this.#address !== undefined) await page.goto(this.#address);
    return page;
  }

  rest(after_ms: number): void {
    this.#release();
    this.#rest = setTimeout(() => {
      this.#address = this.#page?.url();
      void this.#page?.close().catch(() => {});
      this.#page = undefined;
    }, after_ms);
  }

  /** Lets the page go for good: to be kept warm, or to be closed. */
  end(warm: boolean): void {
    this.#ended = true;
    if (warm && this.#session && this.#page) {
      this.#warm.keep(this.#session, this.#page);
      this.#page = undefined;
    }
    this.close();
  }

  /** Closes the page; the next one starts anew. Does not wait: a page goes with its context at the latest. */
  close(): void {
    clearTimeout(this.#rest);
    this.#address = undefined;
    void this.#page?.close().catch(() => {});
    this.#page = undefined;
    this.#release();
  }

  #release(): void {
    this.#releaseSlot?.();
    this.#releaseSlot = undefined;
  }
}
