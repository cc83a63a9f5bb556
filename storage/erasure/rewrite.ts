import type pg from 'pg';
import { LIMITS } from '../limits.js';
import type { Database } from '../postgres/database.js';

/** Where what a person or a connection left may stand; the last one has samples of their columns. */
const TABLES = [
  ...['operation', 'operation_file', 'event', 'event_position', 'delivery', 'delivery_attempt', 'announcement'],
  ...['connection', 'listener', 'subscription', 'former_secret', 'simulated_invitation', 'pg_catalog.pg_statistic'],
] as const;

/** A table is in use for longer than its rewrite waits. */
export class TableInUse extends Error {}

/**
 * Takes what was deleted out of the indexes, and renews the samples that the planner keeps (`VACUUM`, `ANALYZE`): nothing waits for it. What is
 * left then are bytes in free space of pages, until others are written there. With `anew` every table is written to new files
 * (`VACUUM FULL`), one after the other; nobody can use a table meanwhile.
 * @throws TableInUse when somebody uses a table for `LIMITS.rewrite_lock_ms`, each of several times; those before it are done
 */
export async function cleanFiles(db: Database, anew: boolean, begun: (table: string) => void): Promise<void> {
  const client = await db.pool.connect();
  try {
    await client.query('set statement_timeout = 0');
    await client.query(`set lock_timeout = ${anew ? LIMITS.rewrite_lock_ms : 0}`);
    for (const table of TABLES) {
      begun(table);
      if (anew) await rewritten(client, table);
      else await client.query(`vacuum ${table}`);
      await renewSamples(client, table);
    }
    // Files that were replaced go with it. Where the role may not, the server makes one within minutes.
    if (anew) await client.query('checkpoint').catch(() => {});
  } finally {
    client.release(true);
  }
}

/**
 * What the planner knows of its columns, and of what its indexes compute. An analysis leaves the samples of a table without rows as they are:
 * they are forgotten first, which PostgreSQL 18 and later can. In one transaction: no statement is planned without any.
 */
async function renewSamples(client: pg.PoolClient, table: string): Promise<void> {
  if (table.startsWith('pg_catalog.')) return;
  await client.query('begin');
  await forgetSamples(client, table);
  await client.query(`analyze ${table}`);
  await client.query('commit');
}

async function forgetSamples(client: pg.PoolClient, table: string): Promise<void> {
  const { rows } = await client.query(`select to_regproc('pg_clear_attribute_stats') is not null as can`);
  if (!rows[0]?.can) return;
  await client.query(
    `select pg_clear_attribute_stats(c.relnamespace::regnamespace::text, c.relname::text, a.attname::text, false)
     from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
     where c.oid = $1::regclass or c.oid in (select i.indexrelid from pg_index i where i.indrelid = $1::regclass)`,
    [table],
  );
}

async function rewritten(client: pg.PoolClient, table: string): Promise<void> {
  const fileOf = async () =>
    (await client.query('select pg_relation_filenode($1::regclass) as file', [table])).rows[0]?.file;
  const before = await fileOf();
  for (let tries = 1; ; tries++) {
    try {
      await client.query(`vacuum (full) ${table}`);
      break;
    } catch (error) {
      if ((error as { code?: string }).code !== '55P03') throw error;
      if (tries === LIMITS.rewrite_tries) throw new TableInUse(table);
    }
  }
  // A role that may not is warned, and nothing is done.
  if ((await fileOf()) === before) throw new Error(`the role of the service may not rewrite ${table}`);
}
