import { LRUCache } from 'lru-cache';
import { HttpError } from '../../../storage/model/errors.js';
import { atMost } from '../../../storage/process/cache-size.js';
import type { UsableKey } from '../../../storage/workspaces/keys.js';
import { LIMITS } from '../limits.js';
import type { Loader } from '../loader.js';
import { KeyLookups } from './key-lookups.js';

/** What is found by a secret's hash: keys, operators, sessions. */
export interface KeyFinder<K> {
  /** Undefined where there is none. Throws 429 where it would have to be looked up and its address brings many wrong ones. */
  find(hash: string, address: () => string): Promise<K | undefined>;
  /** It has ended: at this node it is looked up from now on, at others within `LIMITS.key_cache_ms`. */
  forget(hash: string): void;
}

/**
 * Finds a key by its hash, undefined where there is none. Right and wrong ones are remembered apart for `LIMITS.key_cache_ms`: wrong
 * ones, of which there is no end, must not push right ones out.
 */
export function keyFinder<K extends object = UsableKey>(load: Loader<K>, lookups = new KeyLookups()): KeyFinder<K> {
  const remembered = { ...atMost(LIMITS.key_cache_keys), ttl: LIMITS.key_cache_ms };
  const known = new LRUCache<string, Promise<K>>(remembered);
  const unknown = new LRUCache<string, true>(remembered);
  /** Right when they were last looked up: no flood from the same address keeps them from being looked up again. */
  const proven = new LRUCache<string, true>(atMost(LIMITS.key_cache_keys));
  const loading = new Map<string, Promise<K | undefined>>();
  const look = async (hash: string, from: string | undefined) => {
    let wrong = false;
    try {
      const key = await load(hash);
      wrong = !key;
      if (key) {
        known.set(hash, Promise.resolve(key));
        proven.set(hash, true);
      } else {
        unknown.set(hash, true);
        proven.delete(hash);
      }
      return key;
    } finally {
      loading.delete(hash);
      if (!wrong && from !== undefined) lookups.notWrong(from);
    }
  };
  const find = async (hash: string, address: () => string) => {
    const present = known.get(hash) ?? loading.get(hash);
    if (present) return present;
    if (unknown.has(hash)) return undefined;
    const from = proven.has(hash) ? undefined : address();
    if (from !== undefined && !lookups.admit(hash, from))
      throw new HttpError('rate_limited', 'too many wrong keys from this address');
    const key = look(hash, from);
    loading.set(hash, key);
    return key;
  };
  return { find, forget: (hash) => void known.delete(hash) };
}
