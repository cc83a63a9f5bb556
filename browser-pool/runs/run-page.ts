import type { Page } from 'playwright';
import { Deadline } from '../../storage/process/deadline.js';
import { checkStep, type Steps } from '../../storage/process/steps.js';
import type { SessionContext } from '../contexts/session-context.js';
import type { WarmPages } from '../contexts/warm-pages.js';

/**
 * The one page of a run.
 *
 * - *closed*: no page and no page slot; remembers the address of a page that was parked for too long.
 * - *opening*: holds a page slot, the page is being made.
 * - *open*: holds a page slot.
 * - *parked*: the run waits for the user; the slot is released, the page stays for a while.
 * - *ended*: the page was kept warm or closed. Final.
 *
 * I1. A page slot is held in *opening* and *open* only.
 * I2. A page that is made after the end is closed at once.
 */
export class RunPage {
  readonly #acquireSlot: () => Promise<() => void>;
  readonly #warm: WarmPages;
  #state: PageState = { kind: 'closed', address: undefined };

  /** `acquireSlot` waits for a page slot and returns its release function. */
  constructor(acquireSlot: () => Promise<() => void>, warm: WarmPages) {
    this.#acquireSlot = acquireSlot;
    this.#warm = warm;
  }

  get isOpen(): boolean {
    return this.current !== undefined;
  }

  /** The page as it is, only to be looked at. */
  get current(): Page | undefined {
    return 'page' in this.#state ? this.#state.page : undefined;
  }

  /** The run's page: the one that is open or parked, the context's warm one, or a new one. */
  async open(session: SessionContext, navigation_ms: number): Promise<Page> {
    if (this.#state.kind === 'open' && !this.#state.page.isClosed()) return this.#state.page;
    const release = this.#state.kind === 'open' ? this.#state.release : await this.#acquireSlot();
    const state = this.#state;
    if (state.kind === 'ended') {
      release();
      throw new Error('the run has ended');
    }
    if (state.kind === 'parked' && !state.page.isClosed()) {
      this.#enter({ kind: 'open', page: state.page, session: state.session, release });
      return state.page;
    }
    this.#enter({ kind: 'opening', release });
    const page = await this.#make(session, navigation_ms);
    if (this.#state.kind !== 'opening') {
      void page.close().catch(() => {});
      throw new Error('the run has ended'); // I2
    }
    this.#enter({ kind: 'open', page, session, release });
    if (state.kind === 'closed' && state.address !== undefined) await page.goto(state.address);
    return page;
  }

  /** Releases the slot while the run waits for the user; the page is closed after `after_ms`. */
  park(after_ms: number): void {
    if (this.#state.kind !== 'open') return;
    const { page, session, release } = this.#state;
    const unused = new Deadline(after_ms);
    unused.signal.addEventListener('abort', () => {
      this.#enter({ kind: 'closed', address: page.url() });
      void page.close().catch(() => {});
    });
    this.#enter({ kind: 'parked', page, session, unused });
    release();
  }

  /** Lets the page go at the end of the run: to be kept warm, or to be closed. */
  end(warm: boolean): void {
    const state = this.#state;
    if (state.kind === 'ended') return;
    this.#leave({ kind: 'ended' }, (page, session) => {
      if (warm) this.#warm.keep(session, page);
      else void page.close().catch(() => {});
    });
  }

  /** Closes the page; the next one is another. Does not wait: a page closes with its context at the latest. */
  close(): void {
    if (this.#state.kind === 'ended' || this.#state.kind === 'closed') return;
    this.#leave({ kind: 'closed', address: undefined }, (page) => void page.close().catch(() => {}));
  }

  /** Enters a state without a page, releases the slot and gives the page, if there is one, to `dispose`. */
  #leave(next: PageState, dispose: (page: Page, session: SessionContext) => void): void {
    const state = this.#state;
    this.#enter(next);
    if ('page' in state) dispose(state.page, state.session);
    if ('release' in state) state.release(); // I1
  }

  async #make(session: SessionContext, navigation_ms: number): Promise<Page> {
    try {
      const page = this.#warm.take(session) ?? (await session.newPage());
      page.setDefaultTimeout(navigation_ms);
      return page;
    } catch (error) {
      this.close();
      throw error;
    }
  }

  #enter(next: PageState): void {
    checkStep('page of a run', STEPS, this.#state.kind, next.kind);
    if (this.#state.kind === 'parked') this.#state.unused.stop();
    this.#state = next;
  }
}

type PageState =
  | { kind: 'closed'; address: string | undefined }
  | { kind: 'opening'; release: () => void }
  | { kind: 'open'; page: Page; session: SessionContext; release: () => void }
  | { kind: 'parked'; page: Page; session: SessionContext; unused: Deadline }
  | { kind: 'ended' };

const STEPS: Steps<PageState['kind']> = {
  closed: ['opening', 'ended'],
  opening: ['open', 'closed', 'ended'],
  open: ['opening', 'parked', 'closed', 'ended'],
  parked: ['open', 'opening', 'closed', 'ended'],
  ended: [],
};
