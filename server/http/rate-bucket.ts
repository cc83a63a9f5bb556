import type { Rate } from '../../storage/workspaces/limits.js';

/** A node's share of a rate of one workspace, as a token bucket: it fills with the share and holds one second's, or one request. */
export class RateBucket {
  /** The share: so many a second. */
  #share = 0;
  #tokens: number;
  #at: number;
  /** Asked for, decaying within a second or so, so that it is about what is asked for in one. */
  #asked = 0;
  /** Asked for at the other nodes, when it was last told. */
  elsewhere = 0;
  /** It was given its share; until then it has what it began with, and nothing comes after it. */
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
    this.#tokens = Math.max(1, part * bound);
    this.#at = now;
    this.askedAt = now;
  }

  /** False when it is empty. What is refused was asked for as well. */
  take(now: number): boolean {
    this.#settle(now);
    this.#asked++;
    this.askedAt = now;
    if (this.#tokens < 1) return false;
    this.#tokens--;
    return true;
  }

  /** `part` of the bound, from 0 to 1, is this node's from now on. */
  deal(part: number, now: number): void {
    this.#settle(now);
    this.dealt = true;
    this.#share = part * this.bound;
    this.#tokens = Math.min(this.#tokens, this.#most);
  }

  /** The bound has changed: the part of it stays. */
  rescale(bound: number): void {
    this.#share *= bound / this.bound;
    this.bound = bound;
  }

  left(now: number): number {
    this.#settle(now);
    return Math.floor(this.#tokens);
  }

  askedPerSecond(now: number): number {
    this.#settle(now);
    return this.#asked;
  }

  get #most(): number {
    return Math.max(1, this.dealt ? this.#share : this.#tokens);
  }

  #settle(now: number): void {
    const elapsed_s = (now - this.#at) / 1000;
    this.#at = now;
    this.#tokens = Math.min(this.#most, this.#tokens + elapsed_s * this.#share);
    this.#asked *= Math.exp(-elapsed_s);
  }
}
