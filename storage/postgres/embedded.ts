import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { LIMITS } from '../limits.js';
import { DatabaseUnavailable } from './database-unavailable.js';
import { type DatabaseServer, isAlive, type RestartEvents, readRunning, startEmbedded } from './embedded-server.js';

export { type DatabaseServer, DatabaseUnavailable };

export interface ConnectOptions {
  databaseUrl?: string | undefined;
  dataDir: string;
  /** True for the service, which must own its database; false for a command, which may share a running one. */
  exclusive: boolean;
  /** True for what only looks: where there is no embedded database yet, none is made. */
  existing?: boolean;
  /** Further PostgreSQL settings, `name=value`. */
  settings?: string[];
  /** Whether the role of the embedded database may make further databases: the suite's, of which each test has one. */
  createDatabases?: boolean;
  /** Given: an embedded database that ends by itself is started again, and this is told. */
  restarts?: RestartEvents;
}

/**
 * Connects to a database that answers: DATABASE_URL's, else the embedded one of `dataDir`, started when it is not running.
 * Throws `DatabaseUnavailable`.
 */
export async function connectDatabase(options: ConnectOptions): Promise<DatabaseServer> {
  if (options.databaseUrl) {
    const superuser = await probe(options.databaseUrl).catch((error: Error) => {
      throw new DatabaseUnavailable(
        `DATABASE_URL: the database does not answer (${reason(error)}); start it or correct the address`,
      );
    });
    return { url: options.databaseUrl, superuser, stop: async () => {} };
  }
  const dir = resolve(options.dataDir, 'postgres');
  if (options.existing && !existsSync(join(dir, 'PG_VERSION'))) {
    throw new DatabaseUnavailable(`DATA_DIR: there is no database in ${options.dataDir} yet: npm start makes one`);
  }
  const runningFile = join(dir, '..', 'running.json');
  const { settings = [], createDatabases = false } = options;
  const until = Date.now() + LIMITS.database_stop_ms;
  for (;;) {
    const running = await readRunning(runningFile);
    if (!running || !isAlive(running.postmaster)) {
      return startEmbedded({ dir, runningFile, settings, createDatabases, restarts: options.restarts });
    }
    if (!isAlive(running.keeper)) {
      process.kill(running.postmaster, 'SIGINT'); // its keeper was killed: no other process stops it
    } else if (!options.exclusive) return { url: running.url, superuser: false, stop: async () => {} };
    if (Date.now() > until) {
      throw new DatabaseUnavailable(
        `DATA_DIR: ${options.dataDir} is in use by another running service (process ${running.keeper})`,
      );
    }
    await delay(LIMITS.database_stop_poll_ms);
  }
}

/** Whether the database's role is a superuser. */
async function probe(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: LIMITS.probe_timeout_ms });
  client.on('error', () => {});
  try {
    await client.connect();
    const { rows } = await client.query<{ rolsuper: boolean }>(
      'select rolsuper from pg_roles where rolname = current_user',
    );
    return rows[0]?.rolsuper === true;
  } finally {
    await client.end().catch(() => {});
  }
}

function reason(error: Error): string {
  const inner = error instanceof AggregateError ? error.errors[0] : error;
  return String((inner as Error | undefined)?.message ?? error).split('\n')[0] as string;
}
