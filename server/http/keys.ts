import { createHash } from 'node:crypto';
import type { Logger } from '../../storage/log.js';
import { HttpError } from '../../storage/model/errors.js';
import type { Sql } from '../../storage/postgres/database.js';
import { findKeysByHash, touchKeys, type UsableKey } from '../../storage/workspaces/keys.js';
import { LIMITS } from './limits.js';
import { rememberingLoader, turnLoader } from './loader.js';

/** `cs_` and 32 bytes in base64url; anything else is refused without a query. */
const BEARER = /^Bearer +(cs_[A-Za-z0-9_-]{43})$/i;

/** Tells whose request it is (contract: "Authentication"). */
export interface KeyAuthenticator {
  /** The key of an `Authorization` header; throws 401. A revoked key stops working within LIMITS.key_cache_ms. */
  authenticate(authorization: string): Promise<UsableKey>;
  /** Writes what is still to be written of `last_used_at`. */
  close(): Promise<void>;
}

export function keyAuthenticator(db: Sql, log: Logger): KeyAuthenticator {
  const load = turnLoader((hashes) => findKeysByHash(db, hashes));
  const find = rememberingLoader(load, LIMITS.key_cache_keys, LIMITS.key_cache_ms);
  const touched = new Map<string, number>();
  let untold = new Set<string>();
  let telling: NodeJS.Timeout | undefined;

  const tell = async () => {
    telling = undefined;
    const ids = [...untold];
    untold = new Set();
    if (ids.length > 0)
      await touchKeys(db, ids).catch((error: unknown) => log.warn({ err: error }, 'key use not noted'));
  };
  const touch = (id: string, now: number) => {
    if (now - (touched.get(id) ?? Number.NEGATIVE_INFINITY) < LIMITS.key_touch_ms) return;
    touched.set(id, now);
    untold.add(id);
    // Soon after the first use, so that many keys share a statement.
    telling ??= setTimeout(() => void tell(), LIMITS.key_cache_ms).unref();
  };
  return {
    async authenticate(authorization) {
      const bearer = BEARER.exec(authorization)?.[1];
      const now = performance.now();
      const key = bearer && (await find(createHash('sha256').update(bearer).digest('hex')));
      if (!key) throw new HttpError('unauthorized');
      touch(key.id, now);
      return key;
    },
    async close() {
      clearTimeout(telling);
      await tell();
    },
  };
}
