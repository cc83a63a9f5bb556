import type { FairSemaphore } from '../fair-semaphore.js';

/** Where the slots of a run come from, and the account on which it waits for them. */
export interface SlotSource {
  runSlots: FairSemaphore;
  pageSlots: FairSemaphore;
  workspaceId: string;
  /** How long the run waits for its slot. */
  slot_wait_ms: number;
  /** How long it waits for a page slot. */
  page_wait_ms: number;
  /** Aborts when the run is interrupted. */
  signal: AbortSignal;
}

/**
 * The slot of one run: acquired before it does anything, released while it waits for the user or for a page slot, and
 * at its end. A slot that comes after an interruption is released at once.
 */
export class RunSlots {
  readonly #source: SlotSource;
  #release: (() => void) | undefined;

  constructor(source: SlotSource) {
    this.#source = source;
  }

  /** Resolves when the run holds its slot. */
  async acquire(): Promise<void> {
    const { runSlots, workspaceId, slot_wait_ms, signal } = this.#source;
    const release = await runSlots.acquire(workspaceId, slot_wait_ms, signal);
    if (signal.aborted) {
      release();
      throw signal.reason;
    }
    this.#release = release;
  }

  release(): void {
    this.#release?.();
    this.#release = undefined;
  }

  /**
   * Acquires a page slot and returns its release function. When none is free the run waits without its own slot, so
   * that runs that need no page pass those that do.
   */
  async acquirePage(): Promise<() => void> {
    const { pageSlots, workspaceId, page_wait_ms, signal } = this.#source;
    const mustWait = !pageSlots.free;
    if (mustWait) this.release();
    const release = await pageSlots.acquire(workspaceId, page_wait_ms, signal);
    try {
      if (mustWait) await this.acquire();
      return release;
    } catch (error) {
      release();
      throw error;
    }
  }
}
