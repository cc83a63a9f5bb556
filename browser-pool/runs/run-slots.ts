import type { FairSemaphore } from '../fair-semaphore.js';

/** Where a run's turns come from, and on whose account it waits for them. */
export interface TurnSource {
  turns: FairSemaphore;
  pages: FairSemaphore;
  workspaceId: string;
  /** How long the run waits for a turn. */
  lease_wait_ms: number;
  /** How long it waits for a page slot. */
  page_wait_ms: number;
  /** Aborts when the run is interrupted. */
  signal: AbortSignal;
}

/**
 * The turn of one run: taken before it does anything, given back while it waits for the user or for a page slot, and
 * at its end. A turn that comes after an interruption is given back at once.
 */
export class RunSlots {
  #source: TurnSource;
  #release: (() => void) | undefined;

  constructor(source: TurnSource) {
    this.#source = source;
  }

  async take(): Promise<void> {
    const { turns, workspaceId, lease_wait_ms, signal } = this.#source;
    const release = await turns.lease(workspaceId, lease_wait_ms, signal);
    if (signal.aborted) {
      release();
      throw signal.reason;
    }
    this.#release = release;
  }

  giveBack(): void {
    this.#release?.();
    this.#release = undefined;
  }

  /**
   * Takes a page slot and gives what releases it. When there is none free the run waits without its turn, so that
   * runs that need no page pass those that do.
   */
  async takePage(): Promise<() => void> {
    const { pages, workspaceId, page_wait_ms, signal } = this.#source;
    const mustWait = !pages.free;
    if (mustWait) this.giveBack();
    const release = await pages.lease(workspaceId, page_wait_ms, signal);
    try {
      if (mustWait) await this.take();
      return release;
    } catch (error) {
      release();
      throw error;
    }
  }
}
