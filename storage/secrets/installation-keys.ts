import { createHmac, hkdfSync } from 'node:crypto';
import type { Sql } from '../postgres/database.js';
import type { EncryptionKey } from './encryption.js';
import { sealedUnder } from './key-usage.js';

/** How a set of keys compares with those that the installation has. */
export interface KeyComparison {
  /** Ids of the keys that the installation has; empty before the first node started with any. */
  installed: string[];
  /** Of the set: the installation has the same key. */
  shared: string[];
  /** Of the set: the installation has another key of that id. */
  differing: string[];
  /** Of the set: the installation has no key of that id. */
  unknown: string[];
}

/** Compares keys with the check values of the installation's. */
export async function compareKeys(sql: Sql, keys: readonly EncryptionKey[]): Promise<KeyComparison> {
  const rows = await sql.query<{ key_id: string; check_value: Buffer }>(
    'getInstallationKeys',
    'select key_id, check_value from installation_key order by created_at, key_id',
  );
  const installed = new Map(rows.map((row) => [row.key_id, row.check_value]));
  const ids = (which: (of: Buffer | undefined, key: EncryptionKey) => boolean) =>
    keys.filter((key) => which(installed.get(key.id), key)).map(({ id }) => id);
  return {
    installed: [...installed.keys()],
    shared: ids((check, key) => check?.equals(checkValue(key)) === true),
    differing: ids((check, key) => check?.equals(checkValue(key)) === false),
    unknown: ids((check) => check === undefined),
  };
}

/** True when a node with these keys belongs to the installation: it shares one, and contradicts none. The first node decides. */
export function belongs({ installed, shared, differing }: KeyComparison): boolean {
  return installed.length === 0 || (shared.length > 0 && differing.length === 0);
}

/**
 * True when what is sealed under the first of the keys can be opened by the installation's nodes. One that never noted its keys
 * is judged by what it has sealed: of the `sample_rows` oldest and newest of each table something is under one of the keys.
 */
export async function mayBeSealedUnder(
  sql: Sql,
  keys: readonly EncryptionKey[],
  sample_rows: number,
): Promise<boolean> {
  const comparison = await compareKeys(sql, keys);
  if (comparison.installed.length > 0) {
    return comparison.differing.length === 0 && comparison.shared.includes(keys[0]?.id ?? '');
  }
  const { usage } = await sealedUnder(sql, sample_rows);
  return usage.length === 0 || usage.some(({ key }) => keys.some(({ id }) => id === key));
}

/** Notes keys that the installation has from now on, beside those it has. */
export async function noteKeys(sql: Sql, keys: readonly EncryptionKey[]): Promise<void> {
  await sql.query(
    'noteInstallationKeys',
    `insert into installation_key (key_id, check_value) select * from unnest($1::text[], $2::bytea[])
     on conflict do nothing`,
    [keys.map(({ id }) => id), keys.map(checkValue)],
  );
}

/** Notes that the installation has these keys and no others. */
export async function replaceKeys(sql: Sql, keys: readonly EncryptionKey[]): Promise<void> {
  await sql.query(
    'replaceInstallationKeys',
    `with given as (
       select * from unnest($1::text[], $2::bytea[]) as given (key_id, check_value)
     ), gone as (
       delete from installation_key where key_id not in (select key_id from given)
     )
     insert into installation_key (key_id, check_value) select * from given
     on conflict (key_id) do update set check_value = excluded.check_value`,
    [keys.map(({ id }) => id), keys.map(checkValue)],
  );
}

/** Tells nothing of the key, and tells it from every other one. */
function checkValue({ id, key }: EncryptionKey): Buffer {
  const derived = Buffer.from(hkdfSync('sha256', key, '', 'installation-key-check', 32));
  return createHmac('sha256', derived).update(id).digest();
}
