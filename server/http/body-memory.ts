import { LIMITS } from './limits.js';

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
 */
export class BodyMemory {
  readonly #bounds: Readonly<Record<BodyShare, number>>;
  readonly #held: Record<BodyShare, number> = { small: 0, unchecked: 0, large: 0 };

  constructor(bytes: number) {
    const part = (percent: number) => Math.floor((bytes * percent) / 100);
    this.#bounds = {
      small: bytes,
      unchecked: part(LIMITS.unchecked_bodies_percent),
      large: part(LIMITS.large_bodies_percent),
    };
  }

  /** Bytes of all bodies that are held. */
  get held_bytes(): number {
    return this.#held.small + this.#held.unchecked + this.#held.large;
  }

  /** Holds the bytes; false: there is no room, and none is held. */
  take(share: BodyShare, bytes: number): boolean {
    const full = this.#held[share] + bytes > this.#bounds[share] || this.held_bytes + bytes > this.#bounds.small; // I1
    if (!full) this.#held[share] += bytes;
    return !full;
  }

  /** Gives back what `take` has held. */
  give(share: BodyShare, bytes: number): void {
    this.#held[share] -= bytes;
  }
}
