import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { LIMITS } from '../limits.js';
import { DatabaseUnavailable } from './database-unavailable.js';
import { type DatabaseServer, isAlive, readRunning, startEmbedded } from './embedded-server.js';

export { type DatabaseServer, DatabaseUnavailable };

export interface ConnectOptions {
  databaseUrl?: string | undefined;
  dataDir: string;
  /** True for the service, which must own its database; false for a command, which may share a running one. */
  exclusive: boolean;
  /** Further PostgreSQL settings, `name=value`. */
  settings?: string[];
}

/**
 * Connects to a database that answers: DATABASE_URL's, else the embedded one of `dataDir`, started when it is not running.
 * Throws `DatabaseUnavailable`.
 */
export async function connectDatabase(options: ConnectOptions): Promise<DatabaseServer> {
  if (options.databaseUrl) {
    await probe(options.databaseUrl).catch((error: Error) => {
      throw new DatabaseUnavailable(
        `DATABASE_URL: the database does not answer (${reason(error)}); start it or correct the address`,
      );
    });
    return { url: options.databaseUrl, stop: async () => {} };
  }
  const dir = resolve(options.dataDir, 'postgres');
  const runningFile = join(dir, '..', 'running.json');
  const until = Date.now() + LIMITS.database_stop_ms;
  for (;;) {
    const running = await readRunning(runningFile);
    if (!running || !isAlive(running.postmaster)) return startEmbedded(dir, runningFile, options.settings ?? []);
    if (!isAlive(running.keeper)) {
      process.kill(running.postmaster, 'SIGINT'); // its keeper was killed: no other process stops it
    } else if (!options.exclusive) return { url: running.url, stop: async () => {} };
    if (Date.now() > until) {
      throw new DatabaseUnavailable(
        `DATA_DIR: ${options.dataDir} is in use by another running service (process ${running.keeper})`,
      );
    }
    await delay(LIMITS.database_stop_poll_ms);
  }
}

async function probe(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: LIMITS.probe_timeout_ms });
  client.on('error', () => {});
  try {
    await client.connect();
    await client.query('select 1');
  } finally {
    await client.end().catch(() => {});
  }
}

function reason(error: Error): string {
  const inner = error instanceof AggregateError ? error.errors[0] : error;
  return String((inner as Error | undefined)?.message ?? error).split('\n')[0] as string;
}
