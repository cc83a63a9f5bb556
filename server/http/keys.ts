import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Logger } from '../../storage/log.js';
import { HttpError } from '../../storage/model/errors.js';
import type { Sql } from '../../storage/postgres/database.js';
import { findKeysByHash, touchKeys, type UsableKey } from '../../storage/workspaces/keys.js';
import { isPassing } from './answer.js';
import { KeyLookups } from './key-lookups.js';
import { LIMITS } from './limits.js';
import { type Loader, turnLoader } from './loader.js';

/** `cs_` and 32 bytes in base64url; anything else is refused without a query. */
const BEARER = /^Bearer +(cs_[A-Za-z0-9_-]{43})$/i;

/** Finds whose request it is (contract: "Authentication"). */
export interface KeyAuthenticator {
  /**
   * The key of an `Authorization` header; throws 401, and 429 for a key that is not known where the client's address brings many
   * wrong ones. A revoked key stops working within `LIMITS.key_cache_ms`.
   */
  authenticate(authorization: string, address: () => string): Promise<UsableKey>;
  /** Writes what is still to be written of `last_used_at`. */
  close(): Promise<void>;
}

export function keyAuthenticator(db: Sql, log: Logger): KeyAuthenticator {
  const find = keyFinder(turnLoader((hashes) => findKeysByHash(db, hashes)));
  const touches = new KeyTouches(db, log);
  return {
    async authenticate(authorization, address) {
      const bearer = BEARER.exec(authorization)?.[1];
      const now = performance.now();
      const key = bearer && (await find(hash('sha256', bearer, 'hex'), address));
      if (!key) throw new HttpError('unauthorized');
      touches.add(key.id, now);
      return key;
    },
    close: () => touches.flush(),
  };
}

/**
 * Finds a key by its hash, undefined where there is none. Right and wrong ones are remembered apart for `LIMITS.key_cache_ms`: wrong
 * ones, of which there is no end, must not push right ones out.
 */
export function keyFinder(
  load: Loader<UsableKey>,
  lookups = new KeyLookups(),
): (hash: string, address: () => string) => Promise<UsableKey | undefined> {
  const remembered = { max: LIMITS.key_cache_keys, ttl: LIMITS.key_cache_ms };
  const known = new LRUCache<string, Promise<UsableKey>>(remembered);
  const unknown = new LRUCache<string, true>(remembered);
  /** Right when they were last looked up: no flood from the same address keeps them from being looked up again. */
  const proven = new LRUCache<string, true>({ max: LIMITS.key_cache_keys });
  const loading = new Map<string, Promise<UsableKey | undefined>>();
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
  return async (hash, address) => {
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
}

/** Writes `last_used_at` of keys: at most every `LIMITS.key_touch_ms` a key, many keys in a statement. */
class KeyTouches {
  readonly #db: Sql;
  readonly #log: Logger;
  readonly #touchedAt = new Map<string, number>();
  #pendingTouches = new Set<string>();
  #timer: NodeJS.Timeout | undefined;

  constructor(db: Sql, log: Logger) {
    this.#db = db;
    this.#log = log;
  }

  add(id: string, now: number): void {
    if (now - (this.#touchedAt.get(id) ?? Number.NEGATIVE_INFINITY) < LIMITS.key_touch_ms) return;
    this.#touchedAt.set(id, now);
    this.#pendingTouches.add(id);
    // Soon after the first use, so that many keys share a statement.
    this.#timer ??= setTimeout(() => void this.flush(), LIMITS.key_cache_ms).unref();
  }

  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const ids = [...this.#pendingTouches];
    this.#pendingTouches = new Set();
    if (ids.length === 0) return;
    await touchKeys(this.#db, ids).catch((error: unknown) => {
      if (!isPassing(error)) this.#log.warn({ err: error }, 'key use not noted');
    });
  }
}
