import { LRUCache } from 'lru-cache';
import { HttpError } from '../../storage/model/errors.js';
import { Batcher, Full } from '../../storage/postgres/batcher.js';
import { atMost } from '../../storage/process/cache-size.js';
import { LIMITS } from './limits.js';

/** Loads the value of a key, or undefined; keys requested in one turn of the event loop share one query. */
export type Loader<V> = (key: string) => Promise<V | undefined>;

/** A loader over `load`, which gets each key once. It refuses with 503 `overloaded` while it holds too many keys. */
export function turnLoader<V>(load: (keys: string[]) => Promise<Map<string, V>>): Loader<V> {
  const batcher = new Batcher<string, V | undefined>({
    maxItems: LIMITS.loader_batch_keys,
    linger_ms: 0,
    concurrency: LIMITS.loader_queries,
    bound: LIMITS.loader_keys,
    wait_ms: LIMITS.loader_wait_ms,
    flush: async (keys) => {
      const found = await load([...new Set(keys)]);
      return keys.map((key) => found.get(key));
    },
  });
  return async (key) => {
    try {
      return await batcher.add(key);
    } catch (error) {
      throw error instanceof Full ? new HttpError('overloaded', 'too many reads at once') : error;
    }
  };
}

/** The same for rows that carry their id. */
export function rowLoader<Row extends { id: string }>(load: (ids: string[]) => Promise<Row[]>): Loader<Row> {
  return turnLoader(async (ids) => new Map((await load(ids)).map((row) => [row.id, row])));
}

/**
 * A loader that remembers a value, an absent one too, for `ttl_ms`. Holds `max` keys; the least recently used one is
 * dropped. A failed load is not remembered.
 */
export function rememberingLoader<V>(load: Loader<V>, max: number, ttl_ms: number): Loader<V> {
  const known = new LRUCache<string, Promise<V | undefined>>({ ...atMost(max), ttl: ttl_ms });
  return (key) => {
    const present = known.get(key);
    if (present) return present;
    const value = load(key);
    known.set(key, value);
    value.catch(() => known.delete(key));
    return value;
  };
}
