import type { Database, Sql } from '../postgres/database.js';
import type { KeyRing } from './encryption.js';
import {
  inputContext,
  passwordContext,
  proxyCredentialsContext,
  sessionContext,
  subscriptionSecretContext,
} from './sealing.js';

/**
 * Re-encrypts what is sealed under a former key. Each row is written only while it still holds
 * what was read, so a password changed meanwhile stays changed, and the work can be broken off and run again.
 */
interface SealedColumn {
  table: 'connection' | 'operation' | 'subscription' | 'regional_proxy';
  column: string;
  /** Where the value is bound to: the context it was sealed with. */
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

const ROWS_A_PAGE = 500;

/** How many values were sealed anew, by `table.column`. Throws when a value's key is not in the ring. */
export async function reencryptAll(db: Database, ring: KeyRing): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const column of SEALED_COLUMNS) {
    counts[`${column.table}.${column.column}`] = await reencryptColumn(db, ring, column);
  }
  return counts;
}

async function reencryptColumn(sql: Sql, ring: KeyRing, { table, column, context }: SealedColumn): Promise<number> {
  let resealed = 0;
  let after = '00000000-0000-0000-0000-000000000000';
  for (;;) {
    const page = await sql.query<{ id: string; sealed: Buffer }>(
      `listSealed.${table}.${column}`,
      `select id, ${column} as sealed from ${table} where id > $1 and ${column} is not null order by id limit $2`,
      [after, ROWS_A_PAGE],
    );
    const stale = page.filter((row) => ring.stale(row.sealed));
    if (stale.length > 0) {
      const written = await sql.query<{ id: string }>(
        `reseal.${table}.${column}`,
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
      resealed += written.length;
    }
    const last = page.at(-1);
    if (!last || page.length < ROWS_A_PAGE) return resealed;
    after = last.id;
  }
}
