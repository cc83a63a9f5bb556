import { LIMITS } from '../limits.js';
import type { Database, Sql } from '../postgres/database.js';
import { type KeyRing, KeyUnknown } from './encryption.js';
import { fingerprintSecret, resealFingerprintSecret } from './installation.js';
import { reencryptFiles } from './reencrypt-files.js';
import { sealPlainData } from './seal-plain.js';
import { SEALED_COLUMNS, type SealedColumn } from './sealed-columns.js';

/** What a re-encryption did. */
export interface Reencrypted {
  /** Values under the first key now, by `table.column`. */
  resealed: Record<string, number>;
  /** Values that were left as they are, by the id of the key that the ring lacks. */
  unknown: Record<string, number>;
}

/**
 * Re-encrypts what is sealed under a former key, and seals what nodes without a key stored plain. Each row is written
 * only while it still holds what was read, so a password changed meanwhile stays changed, and the work can be interrupted and run
 * again. A value whose key is not in the ring is left as it is, and counted. Throws for one that was tampered with.
 */
export async function reencryptAll(db: Database, ring: KeyRing): Promise<Reencrypted> {
  const resealed: Record<string, number> = {};
  const unknown: Record<string, number> = {};
  const lacks = (keyId: string) => {
    unknown[keyId] = (unknown[keyId] ?? 0) + 1;
  };
  for (const column of SEALED_COLUMNS) {
    resealed[`${column.table}.${column.column}`] = await reencryptColumn(db, ring, column, lacks);
  }
  resealed['operation_file.bytes'] = await reencryptFiles(db, ring, lacks);
  const sealed = await sealPlainData(db, ring, await fingerprintSecret(db, ring));
  for (const [column, values] of Object.entries(sealed)) resealed[column] = (resealed[column] ?? 0) + values;
  const secret = await resealFingerprintSecret(db, ring);
  resealed['installation.fingerprint_secret_sealed'] = secret.resealed;
  if (secret.unknown) lacks(secret.unknown);
  return { resealed, unknown };
}

/** Gives how many values were re-encrypted. */
async function reencryptColumn(
  sql: Sql,
  ring: KeyRing,
  { table, column, context, of, data }: SealedColumn,
  lacks: (keyId: string) => void,
): Promise<number> {
  const reseal = (bound: string, sealed: Buffer): Buffer | undefined => {
    try {
      const opened = ring.open(sealed, context(bound));
      return data ? ring.sealData(opened, context(bound)) : ring.seal(opened, context(bound));
    } catch (error) {
      if (!(error instanceof KeyUnknown)) throw error;
      lacks(error.keyId);
      return undefined;
    }
  };
  let reencrypted = 0;
  let after = '00000000-0000-0000-0000-000000000000';
  for (;;) {
    const page = await sql.query<{ id: string; bound: string; sealed: Buffer }>(
      `listSealed.${table}.${column}`,
      `select id, ${of ?? 'id'} as bound, ${column} as sealed from ${table} where id > $1 and octet_length(${column}) > 0 order by id limit $2`,
      [after, LIMITS.reencrypt_page_rows],
    );
    const stale = page
      .filter((row) => ring.stale(row.sealed))
      .map((row) => ({ ...row, next: reseal(row.bound, row.sealed) }))
      .filter(({ next }) => next !== undefined);
    if (stale.length > 0) {
      const written = await sql.query<{ id: string }>(
        `reencrypt.${table}.${column}`,
        `update ${table} as target set ${column} = changed.next
         from unnest($1::uuid[], $2::bytea[], $3::bytea[]) as changed (id, previous, next)
         where target.id = changed.id and target.${column} = changed.previous
         returning target.id`,
        [stale.map((row) => row.id), stale.map((row) => row.sealed), stale.map((row) => row.next)],
      );
      reencrypted += written.length;
    }
    const last = page.at(-1);
    if (!last || page.length < LIMITS.reencrypt_page_rows) return reencrypted;
    after = last.id;
  }
}
