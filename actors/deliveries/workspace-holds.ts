import { LIMITS } from './limits.js';

/**
 * How many subscriptions of each workspace a thread holds, and which workspaces are full: those that reached their share, until they are
 * well below it. Their jobs stay due and unfetched, so that the jobs of others are not behind them.
 */
export class WorkspaceHolds {
  readonly #most: number;
  readonly #onRoom: () => void;
  readonly #held = new Map<string, number>();
  readonly #full = new Set<string>();

  /** `most` is how many one workspace may have; `onRoom` is called when one is no longer full. */
  constructor(most: number, onRoom: () => void) {
    this.#most = most;
    this.#onRoom = onRoom;
  }

  get full(): string[] {
    return [...this.#full];
  }

  /** True while the workspace has at most half of what it may have. */
  roomy(workspaceId: string): boolean {
    return (this.#held.get(workspaceId) ?? 0) <= this.#most / 2;
  }

  add(workspaceId: string): void {
    const held = (this.#held.get(workspaceId) ?? 0) + 1;
    this.#held.set(workspaceId, held);
    if (held >= this.#most) this.#full.add(workspaceId);
  }

  remove(workspaceId: string): void {
    const held = (this.#held.get(workspaceId) ?? 1) - 1;
    if (held === 0) this.#held.delete(workspaceId);
    else this.#held.set(workspaceId, held);
    if (held > this.#most * LIMITS.full_workspace_share || !this.#full.delete(workspaceId)) return;
    this.#onRoom();
  }
}
