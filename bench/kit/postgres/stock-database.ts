import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SCOPES } from '../../../storage/model/records.js';
import type { Database } from '../../../storage/postgres/database.js';
import { createKey } from '../../../storage/workspaces/keys.js';
import { createWorkspace } from '../../../storage/workspaces/workspaces.js';
import { type PostgresVersion, postgresBinaries } from './binaries.js';
import { type PostgresServer, startPostgres } from './server.js';

/** A database of a server of its own, with that version's default settings. */
export interface StockDatabase {
  server: PostgresServer;
  /** Of its owner, a role that is no superuser. */
  url: string;
}

/** Starts the server in the folder; `cores` are the only ones that it runs on. Whoever starts it disposes of it. */
export async function startStockDatabase(
  version: PostgresVersion,
  folder: string,
  cores?: string,
): Promise<StockDatabase> {
  const binaries = await postgresBinaries(version, (line) => process.stderr.write(`${line}\n`));
  const server = await startPostgres({ binaries, folder, cores });
  try {
    return { server, url: await server.createOwner('service') };
  } catch (error) {
    await server[Symbol.asyncDispose]();
    throw error;
  }
}

/**
 * ENCRYPTION_KEYS of a service whose database is not the embedded one: a new key, which also stands in the file in which a service with
 * the embedded database keeps its own, so that a scenario finds it in one place.
 */
export async function newEncryptionKeys(dataDir: string): Promise<string> {
  const keys = `bench:${randomBytes(32).toString('base64')}`;
  await writeFile(join(dataDir, 'encryption-keys'), `${keys}\n`, { mode: 0o600 });
  return keys;
}

/** A key with every scope, of a new workspace: with a DATABASE_URL a service makes none. */
export async function newKey(db: Database): Promise<string> {
  const { id: workspaceId } = await createWorkspace(db, 'bench');
  const created = await createKey(db, { workspaceId, name: 'bench', scopes: SCOPES, expiresAt: null });
  if (!created) throw new Error('the workspace is gone');
  return created.key;
}
