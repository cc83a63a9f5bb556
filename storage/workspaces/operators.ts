import { LIMITS } from '../limits.js';
import { newId } from '../model/new-id.js';
import { OPERATOR, SCOPES } from '../model/records.js';
import type { Sql, Transaction } from '../postgres/database.js';
import { hashKey, newKeyText, prefixOf } from './key-format.js';
import { type KeyUse, type Revoked, touchStatement, type UsableKey } from './keys.js';
import { giveWay } from './rotation.js';

/** Somebody who runs the installation, and whose key opens every workspace (contract: "Authentication"; CLI-10). */
export interface OperatorRow {
  id: string;
  name: string;
  prefix: string;
  /** Networks from which the key may be used, as CIDRs; null: from anywhere. */
  networks: string[] | null;
  created_at: Date;
  expires_at: Date | null;
  last_used_at: Date | null;
  last_used_from: string | null;
  revoked_at: Date | null;
}

const COLUMNS = 'id, name, prefix, networks, created_at, expires_at, last_used_at, last_used_from, revoked_at';

/** An operator whose key is shown, once: it cannot be read back. */
export interface NewOperator {
  key: string;
  row: OperatorRow;
}

/** `networks`: CIDRs; absent: it may be used from anywhere. */
export async function createOperator(
  sql: Sql,
  name: string,
  expiresAt: Date | null,
  networks: readonly string[] | null = null,
): Promise<NewOperator> {
  const key = newKeyText('operator');
  const [row] = await sql.query<OperatorRow>(
    'createOperator',
    `insert into operator (id, name, key_hash, prefix, expires_at, networks) values ($1, $2, $3, $4, $5, $6) returning ${COLUMNS}`,
    [newId(), name, hashKey(key), prefixOf(key), expiresAt, networks],
  );
  return { key, row: row! };
}

/**
 * Makes an operator with the name, networks and expiry of another, whose key stays valid for `overlap_ms`. Undefined when that is unknown,
 * revoked or expired.
 * @throws HttpError `key_ending`, as `giveWay`
 */
export async function rotateOperator(
  tx: Transaction,
  id: string,
  overlap_ms: number,
): Promise<(NewOperator & { previousValidUntil: Date }) | undefined> {
  const gone = await giveWay<OperatorRow>(tx, { table: 'operator', columns: COLUMNS, id, overlap_ms });
  if (!gone) return undefined;
  const { name, expires_at, networks } = gone.old;
  return { ...(await createOperator(tx, name, expires_at, networks)), previousValidUntil: gone.validUntil };
}

/** Oldest first, revoked and expired ones too. */
export function listOperators(sql: Sql): Promise<OperatorRow[]> {
  return sql.query<OperatorRow>('listOperators', `select ${COLUMNS} from operator order by created_at, id`);
}

/** Undefined when there is no such operator. */
export async function revokeOperator(sql: Sql, id: string): Promise<Revoked | undefined> {
  const [row] = await sql.query<Revoked>(
    'revokeOperator',
    'update operator set revoked_at = coalesce(revoked_at, now()) where id = $1 returning revoked_at, revoked_at = now() as now',
    [id],
  );
  return row;
}

/**
 * The operators whose keys have these SHA-256 hashes, neither revoked nor expired, under the hash in hex. They are in no workspace until a
 * request names one. Index: operator_key_hash_key.
 */
export async function findOperatorsByHash(sql: Sql, hashes: string[]): Promise<Map<string, UsableKey>> {
  const rows = await sql.query<UsableOperator & { hash: string }>(
    'findOperatorsByHash',
    `select id, name, networks, expires_at, encode(key_hash, 'hex') as hash from operator
     where key_hash = any(array(select decode(h, 'hex') from unnest($1::text[]) h))
       and revoked_at is null and (expires_at is null or expires_at > now())`,
    [hashes],
  );
  return new Map(rows.map(({ hash, ...row }) => [hash, operatorKey(row)]));
}

type UsableOperator = Pick<OperatorRow, 'id' | 'name' | 'networks' | 'expires_at'>;

/** What an operator may do: all that a key can, and what only operators may. */
export function operatorKey(row: UsableOperator): UsableKey {
  return {
    ...row,
    kind: 'operator',
    workspace_id: row.id,
    scopes: [OPERATOR, ...SCOPES],
    limits: null,
  };
}

/** Records that the operators' keys were used, at most once in `key_touch_ms` each, whatever the number of nodes. */
export async function touchOperators(sql: Sql, uses: readonly KeyUse[]): Promise<void> {
  await sql.query('touchOperators', touchStatement('operator'), [
    uses.map(({ id }) => id),
    uses.map(({ address }) => address),
    LIMITS.key_touch_ms,
  ]);
}
