import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { LIMITS } from '../../limits.js';
import { isLocked } from '../../process/file-lock.js';
import type { Wanted } from '../server-checks/checks.js';
import { type Finding, findingLine, inspectServer } from '../server-checks/inspect.js';
import { DatabaseUnavailable } from './database-unavailable.js';
import { type DatabaseServer, type RestartEvents, readRunning, startEmbedded } from './embedded-server.js';
import { postmasterParent } from './postmaster.js';

export { type DatabaseServer, DatabaseUnavailable };

export interface ConnectOptions {
  databaseUrl?: string | undefined;
  /** Connections to DATABASE_URL that this node opens at most; absent: the server is not asked whether it has as many. */
  connections?: number;
  dataDir: string;
  /** True for the service, which must own its database; false for a command, which may share a running one. */
  exclusive: boolean;
  /** True for what only looks: where there is no embedded database yet, none is made. */
  existing?: boolean;
  /** Further PostgreSQL settings, `name=value`. */
  settings?: string[];
  /** Whether the role of the embedded database may make further databases: the suite's, of which each test has one. */
  createDatabases?: boolean;
  /** Called when the data folder is this process's alone, and the embedded database is about to start. */
  held?: () => void;
  /** Called when another service uses the data folder, which is waited for a while. */
  waits?: () => void;
  /** Given: an embedded database that ends by itself is started again, and this is told. */
  restarts?: RestartEvents;
}

/**
 * Connects to a database that answers: DATABASE_URL's, else the embedded one of `dataDir`, started when it is not running.
 * Throws `DatabaseUnavailable`, also for a server that the service cannot work on (`../server-checks/checks.ts`).
 */
export async function connectDatabase(options: ConnectOptions): Promise<DatabaseServer> {
  if (options.databaseUrl) {
    const findings = await inspected(options.databaseUrl, { connections: options.connections });
    const refusing = findings.find(({ level }) => level === 'refused');
    if (refusing) throw new DatabaseUnavailable(`DATABASE_URL: ${findingLine(refusing)}`);
    return { url: options.databaseUrl, findings, stop: async () => {} };
  }
  const dir = resolve(options.dataDir, 'postgres');
  if (options.existing && !existsSync(join(dir, 'PG_VERSION'))) {
    throw new DatabaseUnavailable(`DATA_DIR: there is no database in ${options.dataDir} yet: npm start makes one`);
  }
  const folder = resolve(options.dataDir);
  const [runningFile, lockFile] = [join(folder, 'running.json'), join(folder, 'lock')];
  const { settings = [], createDatabases = false } = options;
  const until = Date.now() + LIMITS.database_stop_ms;
  await mkdir(folder, { recursive: true });
  for (;;) {
    const running = await readRunning(runningFile);
    const parent = running && postmasterParent(running.postmaster, dir);
    const used = isLocked(lockFile) ?? parent !== undefined;
    if (!used) {
      const { held, restarts } = options;
      return startEmbedded({ dir, runningFile, lockFile, settings, createDatabases, held, restarts });
    }
    options.waits?.();
    if (running && parent !== undefined && parent !== running.keeper) {
      process.kill(running.postmaster, 'SIGINT'); // its keeper was killed: no other process stops it
    } else if (running && !options.exclusive) {
      if (parent === undefined) await requireAnswer(running.url, options.dataDir);
      return { url: running.url, findings: [], stop: async () => {} };
    }
    if (Date.now() > until)
      throw new DatabaseUnavailable(`DATA_DIR: ${options.dataDir} is in use by another running service`);
    await delay(LIMITS.database_stop_poll_ms);
  }
}

/** Throws for the database of a service that runs elsewhere, in another container say, and cannot be reached from here. */
async function requireAnswer(url: string, dataDir: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: LIMITS.connect_attempt_ms });
  client.on('error', () => {});
  try {
    await client.connect();
  } catch {
    throw new DatabaseUnavailable(
      `DATA_DIR: ${dataDir} is in use by a service that cannot be reached from here: run the command where that service runs`,
    );
  } finally {
    await client.end().catch(() => {});
  }
}

/** What was found of the server at DATABASE_URL. Throws `DatabaseUnavailable` when it does not answer. */
export async function inspected(url: string, wanted: Wanted): Promise<Finding[]> {
  return await inspectServer(url, wanted).catch((error: Error) => {
    throw new DatabaseUnavailable(
      `DATABASE_URL: the database does not answer (${reason(error)}); start it or correct the address`,
    );
  });
}

function reason(error: Error): string {
  const inner = error instanceof AggregateError ? error.errors[0] : error;
  return String((inner as Error | undefined)?.message ?? error).split('\n')[0] as string;
}
