import { LRUCache } from 'lru-cache';
import { atMost } from '../../../storage/process/cache-size.js';
import { LIMITS } from '../limits.js';
import { exhausted } from '../rate-limit.js';
import { TokenBucket } from '../token-bucket.js';
import { networkOf } from './key-lookups.js';

/**
 * How many refused sign-ins are recorded (HTTP-30). Anybody may bring what is no key, and the audit log keeps its entries for ever: each
 * takes a token of its address and one of all addresses, whatever was brought. A right key takes none.
 */
export class RefusedSignIns {
  readonly #now: () => number;
  readonly #addresses = new LRUCache<string, TokenBucket>(atMost(LIMITS.failing_addresses));
  readonly #all: TokenBucket;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#all = ofMinute(LIMITS.refused_sign_ins_per_min, now());
  }

  /** Throws 429 with `Retry-After` where this one is not to be recorded. */
  take(address: string): void {
    const network = networkOf(address);
    const now = this.#now();
    const from = this.#addresses.get(network) ?? ofMinute(LIMITS.refused_sign_ins_address_per_min, now);
    this.#addresses.set(network, from);
    const buckets = [from, this.#all];
    const empty = buckets.find((bucket) => bucket.left(now) < 1);
    if (empty) throw exhausted(empty.wait_s(now), 'too many sign-ins are refused');
    for (const bucket of buckets) bucket.take(now);
  }
}

/** A minute fills it. */
const ofMinute = (perMinute: number, now: number) => new TokenBucket(perMinute / 60, perMinute, now);
