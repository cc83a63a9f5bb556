import { type Database, openDatabase } from '../../storage/postgres/database.js';
import { connectDatabase } from '../../storage/postgres/embedded.js';
import { migrate } from '../../storage/postgres/migrate.js';
import { type KeyRing, keyRing } from '../../storage/secrets/encryption.js';
import { readConfig } from '../start/config.js';
import { loadEncryptionKeys } from '../start/encryption-keys.js';
import { LIMITS } from '../start/limits.js';
import type { Answer } from './answer.js';

/** What a command works with: the service's own database, migrated, and its key ring. */
export interface AdminSession {
  db: Database;
  ring: KeyRing;
}

export type Work = (session: AdminSession) => Promise<Answer>;

/** How a command hands over its work, once its arguments are known to be good. */
export type Perform = (work: Work) => void;

/**
 * Opens the database that the service of this environment uses, does the work and closes it again. An embedded
 * database that does not run is started for as long as the command takes.
 */
export async function withSession(env: NodeJS.ProcessEnv, work: Work): Promise<Answer> {
  const config = readConfig(env);
  const database = await connectDatabase({
    databaseUrl: config.databaseUrl ?? undefined,
    dataDir: config.dataDir,
    exclusive: false,
  });
  try {
    await migrate(database.url);
    const db = openDatabase({ url: database.url, maxConnections: LIMITS.admin_connections, applicationName: 'admin' });
    try {
      return await work({ db, ring: keyRing(await loadEncryptionKeys(config)) });
    } finally {
      await db.close();
    }
  } finally {
    await database.stop();
  }
}
