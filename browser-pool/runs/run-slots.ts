import type { FairSlots } from '../../storage/process/fair-slots.js';

/** Where the slots of a run come from, and the account on which it waits for them. */
export interface SlotSource {
  runSlots: FairSlots;
  pageSlots: FairSlots;
  workspaceId: string;
  /** The run's running time, which stands still while a run that has begun waits for a slot. */
  clock: { stopClock(): void; startClock(): void };
  /** Aborts when the run is interrupted: the only end of a wait but a slot. */
  signal: AbortSignal;
}

/**
 * The slots of one run. The run slot is acquired before it does anything, released while it waits for the user or for a page
 * slot, and at its end. A slot that comes after an interruption is released at once.
 *
 * I1. No run waits for a page slot with a run slot in its hand: a run that holds a page may wait for a run slot, and each
 *     would wait for the other.
 */
export class RunSlots {
  readonly #source: SlotSource;
  #release: (() => void) | undefined;
  /** A page slot that was acquired for the first page. */
  #reservedPage: (() => void) | undefined;

  constructor(source: SlotSource) {
    this.#source = source;
  }

  /** Resolves when the run holds its slot. */
  async acquire(): Promise<void> {
    await this.#take(this.#source.runSlots, (release) => {
      this.#release = release;
    });
  }

  /** Resolves when a page slot is kept for the run's first page. To be called before `acquire` (I1). */
  async reservePage(): Promise<void> {
    await this.#take(this.#source.pageSlots, (release) => {
      this.#reservedPage = release;
    });
  }

  /** Releases what the run holds itself; the slot of an open page is the page's. */
  release(): void {
    this.#release?.();
    this.#release = undefined;
    this.#reservedPage?.();
    this.#reservedPage = undefined;
  }

  /**
   * Acquires a page slot, or the reserved one, and returns its release function. When none is free the run waits without its
   * own slot, so that runs that need no page pass those that do.
   */
  async acquirePage(): Promise<() => void> {
    const { pageSlots, clock } = this.#source;
    const reserved = this.#reservedPage;
    this.#reservedPage = undefined;
    if (reserved) return reserved;
    if (pageSlots.free) return this.#take(pageSlots, () => {});
    this.release(); // I1
    clock.stopClock();
    try {
      return await this.#takePageAndRun();
    } finally {
      clock.startClock();
    }
  }

  async #takePageAndRun(): Promise<() => void> {
    const release = await this.#take(this.#source.pageSlots, () => {});
    try {
      await this.acquire();
      return release;
    } catch (error) {
      release();
      throw error;
    }
  }

  /** `keep` gets the release function in the same turn, so that no end of the run comes in between. */
  async #take(slots: FairSlots, keep: (release: () => void) => void): Promise<() => void> {
    const { workspaceId, signal } = this.#source;
    const release = await slots.acquire(workspaceId, signal);
    if (signal.aborted) {
      release();
      throw signal.reason;
    }
    keep(release);
    return release;
  }
}
