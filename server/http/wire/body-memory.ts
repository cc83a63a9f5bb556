import { LIMITS } from '../limits.js';

/**
 * What a body counts as.
 * - `small`: up to `LIMITS.small_body_bytes`. May fill all of the memory.
 * - `unchecked`: larger, of a request whose key, path and size were not looked at yet.
 * - `large`: larger, of a request that may send it.
 */
export type BodyShare = 'small' | 'unchecked' | 'large';

/**
 * The memory for bodies of one edge, in bytes: what is held of all bodies together stays within it.
 *
 * I1. A share holds at most its part, so that large bodies leave room for small ones, and strangers for both.
 * I2. Of the large ones' part a workspace holds at most its own, so that it leaves room for the others.
 */
export class BodyMemory {
  readonly #bounds: Readonly<Record<BodyShare, number>>;
  readonly #held: Record<BodyShare, number> = { small: 0, unchecked: 0, large: 0 };
  readonly #workspace_bytes: number;
  /** What each workspace holds of large bodies. */
  readonly #workspaces = new Map<string, number>();

  constructor(bytes: number) {
    const part = (percent: number) => Math.floor((bytes * percent) / 100);
    this.#bounds = {
      small: bytes,
      unchecked: part(LIMITS.unchecked_bodies_percent),
      large: part(LIMITS.large_bodies_percent),
    };
    this.#workspace_bytes = Math.floor((this.#bounds.large * LIMITS.workspace_large_bodies_percent) / 100);
  }

  /** Bytes of all bodies that are held. */
  get held_bytes(): number {
    return this.#held.small + this.#held.unchecked + this.#held.large;
  }

  /** Holds the bytes, large ones for a workspace; false: there is no room, and none is held. */
  take(share: BodyShare, bytes: number, workspaceId?: string): boolean {
    const full = this.#held[share] + bytes > this.#bounds[share] || this.held_bytes + bytes > this.#bounds.small; // I1
    if (full || !this.#takeLarge(share, bytes, workspaceId)) return false;
    this.#held[share] += bytes;
    return true;
  }

  /** Gives back what `take` has held. */
  give(share: BodyShare, bytes: number, workspaceId?: string): void {
    this.#held[share] -= bytes;
    this.#takeLarge(share, -bytes, workspaceId);
  }

  /** I2 */
  #takeLarge(share: BodyShare, bytes: number, workspaceId: string | undefined): boolean {
    if (share !== 'large' || workspaceId === undefined) return true;
    const held = (this.#workspaces.get(workspaceId) ?? 0) + bytes;
    if (bytes > 0 && held > this.#workspace_bytes) return false;
    if (held > 0) this.#workspaces.set(workspaceId, held);
    else this.#workspaces.delete(workspaceId);
    return true;
  }
}
