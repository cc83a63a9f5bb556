import { throughOutages } from '../../actors/retry.js';
import { auditEras } from '../../storage/audit/eras.js';
import type { Logger } from '../../storage/log/log.js';
import type { Outages } from '../../storage/log/outages.js';
import type { Vault } from '../../storage/model/vault.js';
import { type Database, openDatabase } from '../../storage/postgres/database.js';
import { findingLine } from '../../storage/postgres/server-checks/inspect.js';
import { TIME_LIMITS } from '../../storage/postgres/time-limits.js';
import { migrate } from '../../storage/schema/migrate.js';
import type { LaunchedDatabase } from './launched-database.js';
import { LIMITS } from './limits.js';
import type { Services } from './services.js';

export interface StorageOptions {
  log: Logger;
  vault: Vault;
  outages: Outages;
  services: Services;
}

/** The database of the service, at the schema of this version. */
export interface Storage {
  url: string;
  /** The API's. */
  db: Database;
  /** For statements that must not wait behind those of the API: leases, heartbeats, measurements. */
  control: Database;
}

/** Waits for the database, brings the schema up to date and opens the pools. Rejects with one line. */
export async function openStorage(
  launched: LaunchedDatabase,
  { log, vault, outages, services }: StorageOptions,
): Promise<Storage> {
  const { url, findings } = await launched.server;
  for (const finding of findings) {
    if (finding.level === 'warning') log.warn({ means: finding.means }, `DATABASE_URL: ${findingLine(finding)}`);
  }
  log.info('schema: bringing it up to date');
  const onNewer = (migrations: string[]) =>
    log.warn({ migrations }, 'schema: a newer version has migrated it, and this one works with it');
  await throughOutages(() => migrate(url, { onNewer }));
  const onError = (error: Error) => log.warn({ err: error }, 'database: a connection was lost');
  const db = openDatabase({
    ...{ url, vault, onError, outage: outages.pool('edge'), limits: TIME_LIMITS.edge },
    maxConnections: LIMITS.edge_connections,
    applicationName: 'connection-service edge',
  });
  services.add('database of the API', () => db.close());
  const control = openDatabase({
    ...{ url, onError, outage: outages.pool('control'), limits: TIME_LIMITS.control },
    maxConnections: LIMITS.control_connections,
    applicationName: 'connection-service control',
  });
  services.add('database of control', () => control.close());
  await throughOutages(() => auditEras(db)); // notes a dump that was loaded, before anything is added to its log
  return { url, db, control };
}
