import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { installQueues } from '../jobs/jobs.js';
import { LIMITS } from '../limits.js';
import { ServiceClient } from '../postgres/service-client.js';

const FOLDER = join(import.meta.dirname, '../../../storage/migrations');

/** Two nodes that start together migrate one after the other. */
const MIGRATION_LOCK = 7_301_846_211;

/**
 * The first line of a migration that only adds: a node of the version before, which does not know it, goes on working beside it
 * and may even be started again.
 */
const COMPATIBLE = /^-- compatible\n/;

/** A database that has this one was made by a development version before 0.1.0. */
const BEFORE_FIRST_VERSION = '0001_foundation.sql';
const TOO_OLD =
  'the database was made by a development version before 0.1.0, whose data this version cannot read: give it an empty database or DATA_DIR';

/** Waits for a lock this long only: a statement that waits to lock a table makes everything behind it wait as well. */
const isLockTimeout = (error: unknown): boolean => error instanceof pg.DatabaseError && error.code === '55P03';

export interface MigrateOptions {
  /** Gets the names of migrations that a newer version has made, all of them compatible with this one. */
  onNewer?: (names: string[]) => void;
  /** True: a database without any table of the service is left as it is, and `NoTables` is thrown. */
  existing?: boolean;
  /** Where the migrations are; those of this version by default. */
  folder?: string;
}

/** The database is new: no migration was ever made in it. */
export class NoTables extends Error {}

/**
 * Brings the database to this version: numbered SQL files, forward only, each in its own transaction, then pg-boss's own
 * schema and the queues. Throws Error when an applied file was changed, or the database is newer than this code by a
 * migration that does not say that it is compatible, and `NoTables` where there is nothing and nothing is to be made.
 */
export async function migrate(url: string, options: MigrateOptions = {}): Promise<void> {
  const client = await connected(url);
  try {
    if (options.existing && !(await hasTables(client))) throw new NoTables();
    // Nothing waits for the disk: what is lost with the machine is the end of the log, and whatever was accepted on it.
    await client.query('set synchronous_commit = off');
    await client.query('select pg_advisory_lock($1)', [MIGRATION_LOCK]);
    const { folder = FOLDER } = options;
    const files = (await readdir(folder)).filter((name) => /^\d{4}_[a-z_]+\.sql$/.test(name)).sort();
    const texts = await Promise.all(files.map((name) => readFile(join(folder, name), 'utf8')));
    const applied = await appliedMigrations(client);
    if (applied.has(BEFORE_FIRST_VERSION)) throw new Error(TOO_OLD);
    acceptNewer(
      [...applied.values()].filter(({ name }) => !files.includes(name)),
      options,
    );
    for (const [i, name] of files.entries()) {
      const text = texts[i] as string;
      const sha256 = createHash('sha256').update(text).digest('hex');
      const before = applied.get(name)?.sha256;
      if (before === sha256) continue;
      if (before !== undefined) throw new Error(`migration ${name} was changed after it had been applied`);
      await applyWhenUnlocked(client, { name, sha256, compatible: COMPATIBLE.test(text) }, text);
    }
    await makeAuditParts(client);
    await installQueues(client);
  } finally {
    await client.end();
  }
}

/** Those that are missing of the audit log, before anything is added to it. While it is in use they wait for the nodes, which look after them as well. */
async function makeAuditParts(client: pg.Client): Promise<void> {
  try {
    await client.query('select audit.make_parts()');
  } catch (error) {
    if (!isLockTimeout(error)) throw error;
  }
}

/** Whether any migration was ever made: false for a database that is new. */
async function hasTables(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ made: boolean }>("select to_regclass('schema_migration') is not null as made");
  return rows[0]?.made === true;
}

async function connected(url: string): Promise<pg.Client> {
  const client = new ServiceClient({
    connectionString: url,
    application_name: 'migrate',
    connectionTimeoutMillis: LIMITS.connect_timeout_ms,
  });
  await client.connect();
  return client;
}

interface AppliedMigration {
  name: string;
  sha256: string;
  compatible: boolean;
}

/** By name. Makes the table. */
async function appliedMigrations(client: pg.Client): Promise<Map<string, AppliedMigration>> {
  await client.query(`create table if not exists schema_migration (
    name text primary key, sha256 text not null, applied_at timestamptz not null default now(),
    compatible boolean not null default false)`);
  const { rows } = await client.query<AppliedMigration>('select name, sha256, compatible from schema_migration');
  return new Map(rows.map((row) => [row.name, row]));
}

function acceptNewer(unknown: AppliedMigration[], { onNewer }: MigrateOptions): void {
  const breaking = unknown.find(({ compatible }) => !compatible);
  if (breaking) throw new Error(`the database has migration ${breaking.name}, which this version does not know`);
  if (unknown.length > 0) onNewer?.(unknown.map(({ name }) => name));
}

/** Applies one in its transaction, again and again while one of its tables is locked for longer than it may wait. */
async function applyWhenUnlocked(client: pg.Client, migration: AppliedMigration, text: string): Promise<void> {
  const until = performance.now() + LIMITS.migration_wait_ms;
  for (;;) {
    try {
      return await apply(client, migration, text);
    } catch (error) {
      await client.query('rollback');
      if (!isLockTimeout(error) || performance.now() > until) throw error;
      await delay(LIMITS.migration_lock_ms);
    }
  }
}

async function apply(client: pg.Client, { name, sha256, compatible }: AppliedMigration, text: string): Promise<void> {
  await client.query('begin');
  await client.query(`set local lock_timeout = ${LIMITS.migration_lock_ms}`);
  await client.query(text);
  await client.query('insert into schema_migration (name, sha256, compatible) values ($1, $2, $3)', [
    name,
    sha256,
    compatible,
  ]);
  await client.query('commit');
}
