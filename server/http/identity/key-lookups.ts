import { LRUCache } from 'lru-cache';
import { atMost } from '../../../storage/process/cache-size.js';
import { LIMITS } from '../limits.js';
import { TokenBucket } from '../token-bucket.js';

/**
 * Which keys may be looked up that are in no cache: a flood of wrong ones must not become a flood of queries.
 *
 * I1. Each look-up takes a token of its address, and one of all addresses; it gets both back unless the key is wrong. So an address
 *     that brings right keys is never held up, however many.
 * I2. An address out of tokens has a key looked up when it brings that key again: of a flood each key comes once, and behind a proxy
 *     its address is everybody's. These look-ups have tokens of their own.
 * I3. The memory of addresses and keys is bounded: the least recently used goes.
 */
export class KeyLookups {
  readonly #now: () => number;
  readonly #addresses = new LRUCache<string, TokenBucket>(atMost(LIMITS.failing_addresses)); // I3
  readonly #all: TokenBucket;
  readonly #again: TokenBucket;
  readonly #refused = new LRUCache<string, true>(atMost(LIMITS.refused_keys)); // I3

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#all = ofSecond(LIMITS.failed_keys_per_s, now());
    this.#again = ofSecond(LIMITS.repeated_keys_per_s, now());
  }

  /** Whether this key, given by its hash, is to be looked up for a request from this address. */
  admit(hash: string, address: string): boolean {
    const from = this.#bucketOf(address);
    const now = this.#now();
    const left = from.left(now);
    // Where all have no token left, only an address without a failure gets on.
    if (left >= 1 && (this.#all.left(now) >= 1 || left > LIMITS.failed_keys_address_per_s - 1)) {
      from.take(now); // I1
      this.#all.spend(now);
      return true;
    }
    return this.#admitAgain(hash); // I2
  }

  /** The key that was looked up for this address is right, or nobody could say. */
  notWrong(address: string): void {
    this.#bucketOf(address).giveBack(); // I1
    this.#all.giveBack();
  }

  #admitAgain(hash: string): boolean {
    if (!this.#refused.has(hash)) {
      this.#refused.set(hash, true);
      return false;
    }
    if (!this.#again.take(this.#now())) return false;
    this.#refused.delete(hash);
    return true;
  }

  #bucketOf(address: string): TokenBucket {
    const network = networkOf(address);
    const known = this.#addresses.get(network);
    if (known) return known;
    const bucket = ofSecond(LIMITS.failed_keys_address_per_s, this.#now());
    this.#addresses.set(network, bucket);
    return bucket;
  }
}

/** A second fills it. */
const ofSecond = (perSecond: number, now: number) => new TokenBucket(perSecond, perSecond, now);

/** An address of IPv4; of IPv6, written in full, the network of 64 bits, which one sender has all of. */
export function networkOf(address: string): string {
  return address.includes(':') ? address.slice(0, 19) : address;
}
