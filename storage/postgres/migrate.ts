import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { installQueues } from './jobs.js';

const FOLDER = join(import.meta.dirname, '../../../storage/migrations');

/** Two nodes that start together migrate one after the other. */
const MIGRATION_LOCK = 7_301_846_211;

/**
 * Brings the database to this version: numbered SQL files, forward only, each in its own transaction, then pg-boss's own
 * schema and the queues. Throws Error when an applied file was changed, or the database is newer than this code.
 */
export async function migrate(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, application_name: 'migrate' });
  await client.connect();
  try {
    await client.query('select pg_advisory_lock($1)', [MIGRATION_LOCK]);
    await client.query(`create table if not exists schema_migration (
      name text primary key, sha256 text not null, applied_at timestamptz not null default now())`);
    const { rows } = await client.query<{ name: string; sha256: string }>('select name, sha256 from schema_migration');
    const applied = new Map(rows.map((row) => [row.name, row.sha256]));
    const files = (await readdir(FOLDER)).filter((name) => /^\d{4}_[a-z_]+\.sql$/.test(name)).sort();
    for (const name of applied.keys()) {
      if (!files.includes(name))
        throw new Error(`the database has migration ${name}, which this version does not know`);
    }
    for (const name of files) {
      const text = await readFile(join(FOLDER, name), 'utf8');
      const sha256 = createHash('sha256').update(text).digest('hex');
      const before = applied.get(name);
      if (before === sha256) continue;
      if (before !== undefined) throw new Error(`migration ${name} was changed after it had been applied`);
      await client.query('begin');
      await client.query(text);
      await client.query('insert into schema_migration (name, sha256) values ($1, $2)', [name, sha256]);
      await client.query('commit');
    }
    await installQueues(url);
  } finally {
    await client.end();
  }
}
