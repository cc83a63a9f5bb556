import { LIMITS } from '../limits.js';
import { newId } from '../model/new-id.js';
import type { Right, Scope } from '../model/records.js';
import type { Sql, Transaction } from '../postgres/database.js';
import { isBehind, LIST_START, type ListPlace, placeOfRow } from '../postgres/list-place.js';
import { hashKey, type KeyKind, newKeyText, prefixOf } from './key-format.js';
import { type OwnLimits, ownLimits } from './limits.js';
import { giveWay } from './rotation.js';

/** An API key of a workspace as the operator sees it (contract: "Authentication"; CLI-1). */
export interface ApiKeyRow {
  id: string;
  workspace_id: string;
  name: string | null;
  /** How it begins, by which people tell it. */
  prefix: string;
  scopes: Scope[];
  /** Networks from which it may be used, as CIDRs; null: from anywhere. */
  networks: string[] | null;
  created_at: Date;
  expires_at: Date | null;
  last_used_at: Date | null;
  /** The address that it was last used from. */
  last_used_from: string | null;
  revoked_at: Date | null;
}

/** A key as it is shown, once: it cannot be read back from the database. */
export interface NewApiKey {
  key: string;
  row: ApiKeyRow;
}

const KEY_COLUMNS =
  'id, workspace_id, name, prefix, scopes, networks, created_at, expires_at, last_used_at, last_used_from, revoked_at';

export interface KeyOptions {
  workspaceId: string;
  name: string | null;
  scopes: readonly Scope[];
  /** CIDRs; absent: it may be used from anywhere. */
  networks?: readonly string[] | null;
  expiresAt: Date | null;
}

/** Undefined when there is no such workspace. */
export async function createKey(sql: Sql, options: KeyOptions): Promise<NewApiKey | undefined> {
  const key = newKeyText('key');
  const [row] = await sql.query<ApiKeyRow>(
    'createKey',
    `insert into api_key (id, workspace_id, name, key_hash, scopes, expires_at, networks, prefix)
     select $1, workspace.id, $3, $4, $5, $6, $7, $8 from workspace where workspace.id = $2
     returning ${KEY_COLUMNS}`,
    [
      newId(),
      options.workspaceId,
      options.name,
      hashKey(key),
      options.scopes,
      options.expiresAt,
      options.networks ?? null,
      prefixOf(key),
    ],
  );
  return row && { key, row };
}

/** In order of creation, behind `after`, revoked and expired ones too: `limit` of them, without one all. Index: api_key_by_creation. */
export function listKeys(
  sql: Sql,
  workspaceId: string,
  after: ListPlace = LIST_START,
  limit: number | null = null,
): Promise<(ApiKeyRow & ListPlace)[]> {
  return sql.query<ApiKeyRow & ListPlace>(
    'listKeys',
    `select ${KEY_COLUMNS}, ${placeOfRow('k')} from api_key k where workspace_id = $1 and ${isBehind('k', '$2', '$3')}
     order by created_at, id limit $4`,
    [workspaceId, after.created_us, after.id, limit],
  );
}

/** Whatever its state; undefined when there is none. */
export async function findKey(sql: Sql, id: string): Promise<ApiKeyRow | undefined> {
  const [row] = await sql.query<ApiKeyRow>('findKey', `select ${KEY_COLUMNS} from api_key where id = $1`, [id]);
  return row;
}

/** The key that is usable now: neither revoked nor expired. Undefined otherwise. */
export async function findUsableKey(sql: Sql, key: string): Promise<ApiKeyRow | undefined> {
  const [row] = await sql.query<ApiKeyRow>(
    'findUsableKey',
    `select ${KEY_COLUMNS} from api_key
     where key_hash = $1 and revoked_at is null and (expires_at is null or expires_at > now())`,
    [hashKey(key)],
  );
  return row;
}

/**
 * Makes a key with the name, scopes, networks and expiry of an old one, which stays valid for `overlap_ms`. Undefined when the old one is
 * unknown, revoked or expired.
 * @throws HttpError `key_ending`, as `giveWay`
 */
export async function rotateKey(
  tx: Transaction,
  keyId: string,
  overlap_ms: number,
): Promise<(NewApiKey & { previousValidUntil: Date }) | undefined> {
  const gone = await giveWay<ApiKeyRow>(tx, { table: 'api_key', columns: KEY_COLUMNS, id: keyId, overlap_ms });
  if (!gone) return undefined;
  const { workspace_id, name, scopes, networks, expires_at } = gone.old;
  const successor = await createKey(tx, { workspaceId: workspace_id, name, scopes, networks, expiresAt: expires_at });
  return { ...successor!, previousValidUntil: gone.validUntil };
}

/** That something was revoked, and when: the first time counts. `now`: this was it. */
export interface Revoked {
  revoked_at: Date;
  now: boolean;
}

/** Undefined when there is no such key. */
export async function revokeKey(sql: Sql, keyId: string): Promise<(Revoked & { workspace_id: string }) | undefined> {
  const [row] = await sql.query<Revoked & { workspace_id: string }>(
    'revokeKey',
    `update api_key set revoked_at = coalesce(revoked_at, now()) where id = $1
     returning revoked_at, revoked_at = now() as now, workspace_id`,
    [keyId],
  );
  return row;
}

/** Whose request it is, as it is checked (contract: "Authentication"). */
export interface UsableKey {
  kind: KeyKind;
  /** Of the key, or of the operator. */
  id: string;
  name: string | null;
  /** The workspace it works in; of an operator in none its own id, under which its requests count. */
  workspace_id: string;
  scopes: readonly Right[];
  /** Where it may be used from; null: anywhere. */
  networks: readonly string[] | null;
  expires_at: Date | null;
  /** The limits of its own of the workspace that it works in. */
  limits: OwnLimits;
}

/** A use to be noted: of what, and from where. */
export interface KeyUse {
  id: string;
  address: string;
}

/**
 * The keys with these SHA-256 hashes that are neither revoked nor expired now, under the hash in hex. Index:
 * api_key_key_hash_key.
 */
export async function findKeysByHash(sql: Sql, hashes: string[]): Promise<Map<string, UsableKey>> {
  const rows = await sql.query<Omit<UsableKey, 'kind'> & { hash: string }>(
    'findKeysByHash',
    `select id, name, workspace_id, scopes, networks, expires_at, encode(key_hash, 'hex') as hash,
       ${ownLimits('api_key.workspace_id')} as limits from api_key
     where key_hash = any(array(select decode(h, 'hex') from unnest($1::text[]) h))
       and revoked_at is null and (expires_at is null or expires_at > now())`,
    [hashes],
  );
  return new Map(rows.map(({ hash, ...key }) => [hash, { kind: 'key', ...key }]));
}

/** Rows are locked in the order of their ids, so that two nodes that touch the same keys do not wait for each other. */
export const touchStatement = (table: 'api_key' | 'operator') =>
  `with due as materialized (
     select k.id, use.address from unnest($1::uuid[], $2::text[]) use (id, address) join ${table} k on k.id = use.id
     where k.id = any($1::uuid[]) and (k.last_used_at is null or k.last_used_at < now() - $3 * interval '1 millisecond') order by k.id for no key update of k
   ) update ${table} k set last_used_at = now(), last_used_from = due.address from due where k.id = any($1::uuid[]) and k.id = due.id`;

/** Records that these keys were used, at most once in `key_touch_ms` each, whatever the number of nodes. */
export async function touchKeys(sql: Sql, uses: readonly KeyUse[]): Promise<void> {
  await sql.query('touchKeys', touchStatement('api_key'), [
    uses.map(({ id }) => id),
    uses.map(({ address }) => address),
    LIMITS.key_touch_ms,
  ]);
}
