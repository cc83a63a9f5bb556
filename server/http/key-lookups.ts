import { LRUCache } from 'lru-cache';
import { atMost } from '../../storage/cache-size.js';
import { LIMITS } from './limits.js';

interface Bucket {
  tokens: number;
  at: number;
}

/**
 * Which keys may be looked up that are in no cache: a flood of wrong ones must not become a flood of queries.
 *
 * I1. Each look-up takes a token of its address, and one of all addresses; it gets both back unless the key is wrong. So an address
 *     that brings right keys is never held up, however many.
 * I2. An address out of tokens has a key looked up when it brings that key again: of a flood each key comes once, and behind a proxy
 *     its address is everybody's. These look-ups have tokens of their own.
 * I3. What is remembered of addresses and keys is bounded: the least recently used goes.
 */
export class KeyLookups {
  readonly #now: () => number;
  readonly #addresses = new LRUCache<string, Bucket>(atMost(LIMITS.failing_addresses)); // I3
  readonly #all: Bucket;
  readonly #again: Bucket;
  readonly #refused = new LRUCache<string, true>(atMost(LIMITS.refused_keys)); // I3

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#all = { tokens: LIMITS.failed_keys_per_s, at: now() };
    this.#again = { tokens: LIMITS.repeated_keys_per_s, at: now() };
  }

  /** Whether this key, given by its hash, is to be looked up for a request from this address. */
  admit(hash: string, address: string): boolean {
    const from = this.#bucketOf(address);
    this.#fill(from, LIMITS.failed_keys_address_per_s);
    this.#fill(this.#all, LIMITS.failed_keys_per_s);
    // Where all have no token left, only an address without a failure gets on.
    if (from.tokens >= 1 && (this.#all.tokens >= 1 || from.tokens > LIMITS.failed_keys_address_per_s - 1)) {
      from.tokens--; // I1
      this.#all.tokens--;
      return true;
    }
    return this.#admitAgain(hash); // I2
  }

  /** The key that was looked up for this address is right, or nobody could say. */
  notWrong(address: string): void {
    this.#bucketOf(address).tokens++; // I1
    this.#all.tokens++;
  }

  #admitAgain(hash: string): boolean {
    this.#fill(this.#again, LIMITS.repeated_keys_per_s);
    if (!this.#refused.has(hash)) {
      this.#refused.set(hash, true);
      return false;
    }
    if (this.#again.tokens < 1) return false;
    this.#again.tokens--;
    this.#refused.delete(hash);
    return true;
  }

  #bucketOf(address: string): Bucket {
    const network = networkOf(address);
    const known = this.#addresses.get(network);
    if (known) return known;
    const bucket = { tokens: LIMITS.failed_keys_address_per_s, at: this.#now() };
    this.#addresses.set(network, bucket);
    return bucket;
  }

  /** A second fills it. */
  #fill(bucket: Bucket, perSecond: number): void {
    const at = this.#now();
    bucket.tokens = Math.min(perSecond, bucket.tokens + ((at - bucket.at) / 1000) * perSecond);
    bucket.at = at;
  }
}

/** An address of IPv4; of IPv6, written in full, the network of 64 bits, which one sender has all of. */
export function networkOf(address: string): string {
  return address.includes(':') ? address.slice(0, 19) : address;
}
