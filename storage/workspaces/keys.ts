import type { Scope } from '../model/records.js';
import type { Sql } from '../postgres/database.js';

/** A workspace key as a request is checked against it (contract: "Authentication"). */
export interface UsableKey {
  id: string;
  workspace_id: string;
  scopes: Scope[];
}

/**
 * The keys with these SHA-256 hashes that are neither revoked nor expired now, under the hash in hex. Index:
 * api_key_key_hash_key.
 */
export async function findKeysByHash(sql: Sql, hashes: string[]): Promise<Map<string, UsableKey>> {
  const rows = await sql.query<UsableKey & { hash: string }>(
    'findKeysByHash',
    `select id, workspace_id, scopes, encode(key_hash, 'hex') as hash from api_key
     where key_hash = any(select decode(h, 'hex') from unnest($1::text[]) h)
       and revoked_at is null and (expires_at is null or expires_at > now())`,
    [hashes],
  );
  return new Map(rows.map(({ hash, ...key }) => [hash, key]));
}

/** Notes that these keys were used, at most once a minute each, whatever the number of nodes. */
export async function touchKeys(sql: Sql, ids: string[]): Promise<void> {
  await sql.query(
    'touchKeys',
    `update api_key set last_used_at = now()
     where id = any($1::uuid[]) and (last_used_at is null or last_used_at < now() - interval '1 minute')`,
    [ids],
  );
}
