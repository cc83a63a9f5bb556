import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from '../../storage/log/log.js';
import { connectDatabase, type DatabaseServer } from '../../storage/postgres/embedded/embedded.js';
import { databaseConnections } from './database-connections.js';
import type { Config } from './settings/config.js';

/** The database of a service that starts. */
export interface LaunchedDatabase {
  /** Rejects with one line when it does not start, or does not answer. */
  server: Promise<DatabaseServer>;
  /** Resolves when DATA_DIR is this process's alone, and the embedded database starts; never where there is none. */
  held: Promise<void>;
  /** Resolves when there is only to wait: for the embedded database to start, or for another service to end; or when it failed. */
  begun: Promise<void>;
  /** Stops the embedded database, also one that has only begun to start. */
  stop(): Promise<void>;
}

/**
 * Connects to DATABASE_URL, or starts the embedded database. `fatal` is called with one line when that one cannot be kept running
 * later.
 */
export function launchDatabase(config: Config, log: Logger, fatal: (line: string) => void): LaunchedDatabase {
  log.info(config.databaseUrl ? 'database: connecting' : 'database: starting the embedded one');
  const held = Promise.withResolvers<void>();
  const waits = Promise.withResolvers<void>();
  let started = false;
  const server = connectDatabase({
    databaseUrl: config.databaseUrl ?? undefined,
    connections: databaseConnections(config),
    dataDir: config.dataDir,
    exclusive: true,
    held() {
      started = true;
      held.resolve();
    },
    waits: waits.resolve,
    restarts: {
      ended: (reason) => log.error({ reason }, 'database: the embedded one ended, and is started again'),
      started: () => log.warn('database: the embedded one runs again'),
      gaveUp: (reason) => fatal(`DATA_DIR: the embedded database keeps ending: ${reason}`),
    },
  });
  const failed = server.then(
    () => {},
    () => {}, // whoever waits for the server is told
  );
  return {
    server,
    held: held.promise,
    begun: Promise.race([held.promise, waits.promise, failed]),
    async stop() {
      if (started) await server.then(({ stop }) => stop()).catch(() => {});
    },
  };
}

/**
 * The same, where it is an embedded database that stands: it starts while the service is loaded, which takes as long. A new one is not
 * made before everything else of the start is known to be right.
 */
export function launchStanding(
  config: Config,
  log: Logger,
  fatal: (line: string) => void,
): LaunchedDatabase | undefined {
  const stands = config.databaseUrl === null && existsSync(join(config.dataDir, 'postgres', 'PG_VERSION'));
  return stands ? launchDatabase(config, log, fatal) : undefined;
}
