import type { Rate } from '../../../storage/workspaces/limits.js';
import { TokenBucket } from '../token-bucket.js';

/** A node's share of a rate of one workspace: its bucket fills with the share and holds one second's, or one request. */
export class RateBucket {
  /** Until it is dealt its share, it has what it began with, and nothing comes into it. */
  readonly #bucket: TokenBucket;
  /** The share: so many a second. */
  #share = 0;
  /** Asked for, decaying within a second or so, so that it is about what is asked for in one. */
  #asked = 0;
  #settledAt: number;
  /** Asked for at the other nodes, when it was last told. */
  elsewhere = 0;
  /** It was given its share. */
  dealt = false;
  /** When it was last asked. */
  askedAt: number;

  constructor(
    readonly workspaceId: string,
    readonly rate: Rate,
    public bound: number,
    part: number,
    now: number,
  ) {
    this.#bucket = new TokenBucket(0, Math.max(1, part * bound), now);
    this.#settledAt = now;
    this.askedAt = now;
  }

  /** False when it is empty. A refused request was asked for as well. */
  take(now: number): boolean {
    this.#asked = this.askedPerSecond(now) + 1;
    this.askedAt = now;
    return this.#bucket.take(now);
  }

  /** `part` of the bound, from 0 to 1, is this node's from now on. */
  deal(part: number, now: number): void {
    this.dealt = true;
    this.#setShare(part * this.bound, now);
  }

  /** The bound has changed: the part of it stays. */
  rescale(bound: number, now: number): void {
    const share = this.#share * (bound / this.bound);
    this.bound = bound;
    if (this.dealt) this.#setShare(share, now);
  }

  left(now: number): number {
    return Math.floor(this.#bucket.left(now));
  }

  askedPerSecond(now: number): number {
    this.#asked *= Math.exp(-(now - this.#settledAt) / 1000);
    this.#settledAt = now;
    return this.#asked;
  }

  #setShare(share: number, now: number): void {
    this.#share = share;
    this.#bucket.change(share, Math.max(1, share), now);
  }
}
