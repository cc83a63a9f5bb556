import { DATA_SEALING_MARK } from '../model/vault.js';
import type { Sql } from '../postgres/database.js';

/** Notes that data is sealed from now on, unless a node is alive that could not read it. True when it may be sealed. */
export async function beginDataSealing(sql: Sql, former_node_ms: number): Promise<boolean> {
  await sql.query(
    'beginDataSealing',
    `insert into schema_migration (name, sha256, compatible)
     select $1, '', false where not exists (
       select 1 from node where not reads_sealed and heartbeat_at > now() - $2 * interval '1 millisecond')
     on conflict do nothing`,
    [DATA_SEALING_MARK, former_node_ms],
  );
  return isDataSealed(sql);
}

/** Whether data may be sealed. */
export async function isDataSealed(sql: Sql): Promise<boolean> {
  const rows = await sql.query('isDataSealed', 'select 1 from schema_migration where name = $1', [DATA_SEALING_MARK]);
  return rows.length > 0;
}
