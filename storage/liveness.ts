import type { Sql } from './database.js';

/** Resolves when the database answers. */
export async function pingDatabase(sql: Sql): Promise<void> {
  await sql.query('pingDatabase', 'select 1 as alive');
}
