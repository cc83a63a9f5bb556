import type { Page } from 'playwright';
import type { SessionContext } from './session-context.js';

/**
 * The one page of a run. *closed* → (asked for) → *open*, holding a page slot → (the run waits for the user) →
 * *resting*: the slot is given back, the page stays → (asked for) → *open* again, or (rested for long) → *closed*,
 * remembering its address, where the next `open` goes back to.
 */
export class RunPage {
  #lease: () => Promise<() => void>;
  #page: Page | undefined;
  #releaseSlot: (() => void) | undefined;
  #rest: NodeJS.Timeout | undefined;
  #address: string | undefined;
  #ended = false;

  /** `lease` waits for a page slot and gives what releases it. */
  constructor(lease: () => Promise<() => void>) {
    this.#lease = lease;
  }

  get isOpen(): boolean {
    return this.#page !== undefined;
  }

  async open(session: SessionContext, navigation_ms: number): Promise<Page> {
    this.#releaseSlot ??= await this.#lease();
    if (this.#ended) {
      this.#release();
      throw new Error('the run has ended');
    }
    clearTimeout(this.#rest);
    if (this.#page && !this.#page.isClosed()) return this.#page;
    const page = await session.newPage();
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

  /** Closes the page for good. */
  end(): void {
    this.#ended = true;
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
