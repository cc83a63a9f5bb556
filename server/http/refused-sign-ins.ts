import { LRUCache } from 'lru-cache';
import { atMost } from '../../storage/cache-size.js';
import { HttpError } from '../../storage/model/errors.js';
import { networkOf } from './key-lookups.js';
import { LIMITS } from './limits.js';

interface Bucket {
  tokens: number;
  at: number;
}

/**
 * How many refused sign-ins are recorded (HTTP-30). Anybody may bring what is no key, and the audit log keeps its entries for ever: each
 * takes a token of its address and one of all addresses, whatever was brought. A right key takes none.
 */
export class RefusedSignIns {
  readonly #now: () => number;
  readonly #addresses = new LRUCache<string, Bucket>(atMost(LIMITS.failing_addresses));
  readonly #all: Bucket;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#all = { tokens: LIMITS.refused_sign_ins_per_min, at: now() };
  }

  /** Throws 429 with `Retry-After` where this one is not to be recorded. */
  take(address: string): void {
    const network = networkOf(address);
    const full: Bucket = { tokens: LIMITS.refused_sign_ins_address_per_min, at: this.#now() };
    const from = this.#addresses.get(network) ?? full;
    this.#addresses.set(network, from);
    const buckets: [Bucket, perMinute: number][] = [
      [from, LIMITS.refused_sign_ins_address_per_min],
      [this.#all, LIMITS.refused_sign_ins_per_min],
    ];
    for (const [bucket, perMinute] of buckets) {
      this.#fill(bucket, perMinute);
      if (bucket.tokens >= 1) continue;
      const wait_s = Math.ceil(((1 - bucket.tokens) * 60) / perMinute);
      throw new HttpError('rate_limited', 'too many sign-ins are refused', undefined, {
        'Retry-After': String(wait_s),
      });
    }
    for (const [bucket] of buckets) bucket.tokens--;
  }

  /** A minute fills it. */
  #fill(bucket: Bucket, perMinute: number): void {
    const at = this.#now();
    bucket.tokens = Math.min(perMinute, bucket.tokens + ((at - bucket.at) / 60_000) * perMinute);
    bucket.at = at;
  }
}
