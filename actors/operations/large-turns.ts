import { FairSemaphore } from '../../browser-pool/fair-semaphore.js';
import { LIMITS } from '../limits.js';

/**
 * The turns of a thread's attempts with large inputs, which hold several times as much memory while they run.
 *
 * I1. At most `LIMITS.large_attempts` are held, and at most `LIMITS.workspace_large_attempts` of them by one workspace: its attempts may
 *     be slow, or wait for a user.
 * I2. Those that come free go round the workspaces that wait; within one, first in, first out.
 */
export class LargeTurns {
  readonly #all = new FairSemaphore(LIMITS.large_attempts);
  readonly #workspaces = new Map<string, FairSemaphore>();

  /** Resolves with the release function, to be called once. Rejects with the signal's reason when it aborts first. */
  async acquire(workspaceId: string, signal: AbortSignal): Promise<() => void> {
    const own = this.#workspaces.get(workspaceId) ?? new FairSemaphore(LIMITS.workspace_large_attempts);
    this.#workspaces.set(workspaceId, own);
    let ofOwn: (() => void) | undefined;
    const giveBack = () => {
      ofOwn?.();
      if (own.held === 0 && own.waiting === 0) this.#workspaces.delete(workspaceId);
    };
    try {
      ofOwn = await own.acquire(workspaceId, signal); // I1
      const ofAll = await this.#all.acquire(workspaceId, signal); // I2
      return () => {
        ofAll();
        giveBack();
      };
    } catch (error) {
      giveBack();
      throw error;
    }
  }
}
