import { existsSync } from 'node:fs';
import { recordAudit } from '../../storage/audit/record.js';
import type { AuditAction, AuditTarget, NewAuditEntry } from '../../storage/model/audit.js';
import { type Database, openDatabase, type Transaction } from '../../storage/postgres/database.js';
import { forgetClientVariables } from '../../storage/postgres/database-environment.js';
import { connectDatabase } from '../../storage/postgres/embedded/embedded.js';
import { migrate, NoTables } from '../../storage/schema/migrate.js';
import { type EncryptionKey, type KeyRing, keyRing } from '../../storage/secrets/encryption.js';
import { compareKeys, mayBeSealedUnder, noteKeys } from '../../storage/secrets/installation-keys.js';
import { commandLine } from '../start/command-line.js';
import { LIMITS } from '../start/limits.js';
import { type Config, ConfigError, readConfig } from '../start/settings/config.js';
import { requireDataDir } from '../start/settings/data-dir.js';
import { existingEncryptionKeys, loadEncryptionKeys } from '../start/settings/encryption-keys.js';
import { type Answer, Failure } from './answer.js';
import type { Named } from './named.js';

/** What a command works with: the service's own database, migrated, and the keys of its environment. */
export interface AdminSession {
  db: Database;
  /** Of the environment. */
  config: Config;
  /** Those that this environment names or DATA_DIR has, whether or not they are the installation's. Makes none. */
  keys(): Promise<EncryptionKey[]>;
  /**
   * The key ring to seal with. Of a new installation it makes the key file, as a start would.
   * @throws ConfigError when the keys are not those of the installation, whose nodes could not open what is sealed
   */
  ring(): Promise<KeyRing>;
  /** Adds the entry of the command's action to the audit log, in the transaction that does what it tells. */
  record(tx: Transaction, targets: readonly AuditTarget[], parts?: EntryParts): Promise<void>;
  /** Adds the entry of a command that changes nothing, with what it names: for one that shows something before its answer. */
  recordNamed(): Promise<void>;
}

/** What an entry tells beside the command. */
interface EntryParts {
  workspaceId?: string | null;
  details?: NewAuditEntry['details'];
}

export type Work = (session: AdminSession) => Promise<Answer>;

/** What a command works on: a database that is there, or one that it makes where there is none. A command that only looks makes none. */
export type Wanted = 'existing' | 'made';

/** What the audit log calls the command (HTTP-30), and what it works on; absent: a database that is there. */
export interface Door {
  action: AuditAction;
  database?: Wanted;
}

export interface Chosen extends Door {
  work: Work;
  /** The command as it was typed, without its options: `key create`. */
  command: string;
  /** What its options name. */
  named: Named;
}

/** How a command hands over its work, once its arguments are known to be good: the one door, behind which it is recorded. */
export type Perform = (work: Work, door: Door) => void;

/**
 * Opens the database that the service of this environment uses, does the work and closes it again. An embedded
 * database that does not run is started for as long as the command takes.
 */
export async function withSession(env: NodeJS.ProcessEnv, chosen: Chosen): Promise<Answer> {
  const { database: wanted = 'existing' } = chosen;
  const config = readConfig(env);
  if (config.databaseUrl === null) forgetClientVariables();
  if (config.databaseUrl === null && (wanted === 'made' || existsSync(config.dataDir))) requireDataDir(config);
  const database = await connectDatabase({
    databaseUrl: config.databaseUrl ?? undefined,
    dataDir: config.dataDir,
    exclusive: false,
    existing: wanted === 'existing',
  });
  try {
    await migrate(database.url, { existing: wanted === 'existing' }).catch((error: unknown) => {
      if (!(error instanceof NoTables)) throw error;
      throw new Failure('the database has no tables yet: they are made when the service starts');
    });
    const db = openDatabase({ url: database.url, maxConnections: LIMITS.admin_connections, applicationName: 'admin' });
    try {
      const keys = () => existingEncryptionKeys(config);
      return await recorded(chosen, { db, config, keys, ring: () => sealingRing(db, config) });
    } finally {
      await db.close();
    }
  } finally {
    await database.stop();
  }
}

/** Does the work. A command that has not recorded itself, because it changed nothing, is recorded before its answer is shown. */
async function recorded(
  { work, action, command, named }: Chosen,
  given: Omit<AdminSession, 'record' | 'recordNamed'>,
): Promise<Answer> {
  const actor = commandLine();
  let done = false;
  const record: AdminSession['record'] = async (tx, targets, { workspaceId = null, details } = {}) => {
    const told = { command, ...details };
    await recordAudit(tx, { actor, action, workspaceId, targets, requestId: null, details: told });
    done = true;
  };
  const recordNamed = () => given.db.transaction((tx) => record(tx, named.targets, named));
  const answer = await work({ ...given, record, recordNamed });
  if (!done) await recordNamed();
  return answer;
}

/** `AdminSession.ring`. An environment without a key seals nothing, so there is nothing to compare. */
async function sealingRing(db: Database, config: Config): Promise<KeyRing> {
  const existing = await existingEncryptionKeys(config);
  if (existing.length === 0 && config.databaseUrl !== null) return keyRing([]);
  if (!(await mayBeSealedUnder(db, existing, LIMITS.key_sample_rows))) throw await foreignKeys(db, existing);
  const keys = await loadEncryptionKeys(config);
  if ((await compareKeys(db, keys)).installed.length === 0) await noteKeys(db, keys);
  return keyRing(keys);
}

async function foreignKeys(db: Database, keys: EncryptionKey[]): Promise<ConfigError> {
  const { installed, differing } = await compareKeys(db, keys);
  const has = installed.length > 0 ? `its nodes have ${installed.join(', ')}` : 'its secrets are sealed under others';
  const other = differing.length > 0 ? `; of the same name but another key: ${differing.join(', ')}` : '';
  const given = keys.length > 0 ? `starts with ${keys[0]?.id}` : 'is not set';
  return new ConfigError(
    `ENCRYPTION_KEYS ${given}, which is not the installation's (${has}${other}): use what the service has, or see "encryption adopt"`,
  );
}
