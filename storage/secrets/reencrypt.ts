import { LIMITS } from '../limits.js';
import type { Database, Sql } from '../postgres/database.js';
import type { KeyRing } from './encryption.js';
import {
  inputContext,
  passwordContext,
  proxyCredentialsContext,
  sessionContext,
  subscriptionSecretContext,
} from './sealing.js';

interface SealedColumn {
  table: 'connection' | 'operation' | 'subscription' | 'regional_proxy';
  column: string;
  /** The place that the value is bound to: the context it was sealed with. */
  context: (id: string) => string;
}

/** Every sealed column of the schema. */
const SEALED_COLUMNS: SealedColumn[] = [
  { table: 'connection', column: 'password_sealed', context: passwordContext },
  { table: 'connection', column: 'session_sealed', context: sessionContext },
  { table: 'operation', column: 'input_sealed', context: inputContext },
  { table: 'subscription', column: 'secret_sealed', context: subscriptionSecretContext },
  { table: 'subscription', column: 'previous_secret_sealed', context: subscriptionSecretContext },
  { table: 'regional_proxy', column: 'credentials_sealed', context: proxyCredentialsContext },
];

/**
 * Re-encrypts what is sealed under a former key. Each row is written only while it still holds what was read, so a password
 * changed meanwhile stays changed, and the work can be interrupted and run again. Returns how many values were re-encrypted,
 * by `table.column`. Throws when a value's key is not in the ring.
 */
export async function reencryptAll(db: Database, ring: KeyRing): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const column of SEALED_COLUMNS) {
    counts[`${column.table}.${column.column}`] = await reencryptColumn(db, ring, column);
  }
  return counts;
}

async function reencryptColumn(sql: Sql, ring: KeyRing, { table, column, context }: SealedColumn): Promise<number> {
  let reencrypted = 0;
  let after = '00000000-0000-0000-0000-000000000000';
  for (;;) {
    const page = await sql.query<{ id: string; sealed: Buffer }>(
      `listSealed.${table}.${column}`,
      `select id, ${column} as sealed from ${table} where id > $1 and ${column} is not null order by id limit $2`,
      [after, LIMITS.reencrypt_page_rows],
    );
    const stale = page.filter((row) => ring.stale(row.sealed));
    if (stale.length > 0) {
      const written = await sql.query<{ id: string }>(
        `reencrypt.${table}.${column}`,
        `update ${table} as target set ${column} = changed.next
         from unnest($1::uuid[], $2::bytea[], $3::bytea[]) as changed (id, previous, next)
         where target.id = changed.id and target.${column} = changed.previous
         returning target.id`,
        [
          stale.map((row) => row.id),
          stale.map((row) => row.sealed),
          stale.map((row) => ring.seal(ring.open(row.sealed, context(row.id)), context(row.id))),
        ],
      );
      reencrypted += written.length;
    }
    const last = page.at(-1);
    if (!last || page.length < LIMITS.reencrypt_page_rows) return reencrypted;
    after = last.id;
  }
}
