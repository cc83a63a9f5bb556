/**
 * A token bucket: `perSecond` tokens come into it each second, and it holds `most`. Times are those of one monotonic clock, in milliseconds. The one bucket
 * behind every rate of this node (HTTP-12, HTTP-27, HTTP-30).
 */
export class TokenBucket {
  #perSecond: number;
  #most: number;
  #tokens: number;
  #at: number;

  /** Full, unless `tokens` says how much is in it. */
  constructor(perSecond: number, most: number, now: number, tokens = most) {
    this.#perSecond = perSecond;
    this.#most = most;
    this.#tokens = tokens;
    this.#at = now;
  }

  /** Takes a token; false where there is none. */
  take(now: number): boolean {
    if (this.left(now) < 1) return false;
    this.#tokens--;
    return true;
  }

  /** Takes a token, also where there is none: then it has to come before another one is there. */
  spend(now: number): void {
    this.left(now);
    this.#tokens--;
  }

  /** Gives a token back; what it cannot hold is lost. */
  giveBack(): void {
    this.#tokens++;
  }

  /** What is in it, parts of a token too. */
  left(now: number): number {
    this.#tokens = Math.min(this.#most, this.#tokens + ((now - this.#at) / 1000) * this.#perSecond);
    this.#at = now;
    return this.#tokens;
  }

  /** Whole seconds until there is a token. */
  wait_s(now: number): number {
    return Math.ceil((1 - this.left(now)) / this.#perSecond);
  }

  /** How long an empty one takes to be full again. */
  get filling_ms(): number {
    return (this.#most / this.#perSecond) * 1000;
  }

  /** Other amounts from now on; what is in it stays, as far as it holds that. */
  change(perSecond: number, most: number, now: number): void {
    this.left(now);
    this.#perSecond = perSecond;
    this.#most = most;
    this.#tokens = Math.min(most, this.#tokens);
  }
}
