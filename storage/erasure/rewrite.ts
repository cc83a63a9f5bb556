import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { LIMITS } from '../limits.js';
import type { Database } from '../postgres/database.js';

/** Where what a person or a connection left may stand, all whose rows go with a connection. */
export const TABLES = [
  ...['operation', 'operation_file', 'look_request', 'unknown_outcome', 'waiting_operation', 'retention_passed'],
  ...['event', 'event_list', 'event_position', 'delivery', 'delivery_attempt', 'erased_deliveries', 'announcement'],
  ...[
    'connection',
    'listener',
    'listener_gap',
    'reconnect_link',
    'subscription',
    'former_secret',
    'simulated_invitation',
  ],
] as const;

/** Has samples of their columns. */
const SAMPLES = 'pg_catalog.pg_statistic';

/** A table is in use for longer than its rewrite waits. */
export class TableInUse extends Error {}

/** A rewrite keeps what an older transaction, a prepared one, a replication slot or a standby may still read. */
export class SeenByOthers extends Error {
  override readonly message =
    'an older transaction of any database of the server, a replication slot or a standby may still read what was erased';
}

/**
 * Takes what was deleted out of the indexes, and renews the samples that the planner keeps (`VACUUM`, `ANALYZE`): nothing waits for it. The rest
 * are bytes in free space of pages, until others are written there. With `anew` every table is written to new files
 * (`VACUUM FULL`), one after the other; nobody can use a table meanwhile.
 * @throws TableInUse when somebody uses a table for `LIMITS.rewrite_lock_ms`, each of several times; those before it are done
 * @throws SeenByOthers when what was deleted before may still be read for as long
 */
export async function cleanFiles(db: Database, anew: boolean, begun: (table: string) => void): Promise<void> {
  const client = await db.pool.connect();
  try {
    await client.query('set statement_timeout = 0');
    await client.query(`set lock_timeout = ${anew ? LIMITS.rewrite_lock_ms : 0}`);
    const erased = anew ? await awaitOlder(client) : '';
    for (const table of TABLES) {
      begun(table);
      if (anew) await rewrite(client, table, erased);
      else await client.query(`vacuum ${table}`);
      await renewSamples(client, table);
    }
    begun(SAMPLES);
    if (anew)
      await rewrite(client, SAMPLES, await awaitOlder(client)); // the old ones were deleted just now
    else await client.query(`vacuum ${SAMPLES}`);
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

/**
 * Waits until nobody can read any more what was deleted before; gives a transaction that is newer. Only the server knows, from transactions, prepared
 * ones, slots and standbys: a table of few rows is written anew, and tells.
 */
async function awaitOlder(client: pg.PoolClient): Promise<string> {
  const { rows } = await client.query('select pg_snapshot_xmax(pg_current_snapshot())::text as id');
  const newest: string = rows[0]?.id;
  for (let tries = 1; !(await rewritten(client, 'erasure_receipt', newest)); tries++) {
    if (tries === LIMITS.rewrite_tries) throw new SeenByOthers();
    await delay(LIMITS.rewrite_lock_ms);
  }
  return newest;
}

async function rewrite(client: pg.PoolClient, table: string, erased: string): Promise<void> {
  if (!(await rewritten(client, table, erased))) throw new SeenByOthers();
}

/** False when it may have kept rows that transactions before `erased` deleted: its oldest transaction is then before that. */
async function rewritten(client: pg.PoolClient, table: string, erased: string): Promise<boolean> {
  const read = async () => {
    const { rows } = await client.query(
      `select pg_relation_filenode(oid) as file, age(relfrozenxid) <= age($2::xid8::xid) as without from pg_class where oid = $1::regclass`,
      [table, erased],
    );
    return rows[0] as { file: number; without: boolean };
  };
  const before = await read();
  for (let tries = 1; ; tries++) {
    try {
      await client.query(`vacuum (full) ${table}`);
      break;
    } catch (error) {
      if ((error as { code?: string }).code !== '55P03') throw error;
      if (tries === LIMITS.rewrite_tries) throw new TableInUse(table);
    }
  }
  const after = await read();
  // A role that may not is warned, and nothing is done.
  if (after.file === before.file) throw new Error(`the role of the service may not rewrite ${table}`);
  return after.without;
}
