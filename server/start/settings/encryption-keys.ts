import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { Logger } from '../../../storage/log/log.js';
import type { Sql } from '../../../storage/postgres/database.js';
import { type EncryptionKey, type KeyRing, parseEncryptionKeys } from '../../../storage/secrets/encryption.js';
import { belongs, compareKeys, noteKeys } from '../../../storage/secrets/installation-keys.js';
import { sealedUnder } from '../../../storage/secrets/key-usage.js';
import { LIMITS } from '../limits.js';
import { type Config, ConfigError } from './config.js';
import { load, loadOrCreate } from './private-file.js';

/**
 * The keys that seal secrets at rest. Those of ENCRYPTION_KEYS win; the embedded database has a key file of its own in
 * DATA_DIR; a DATABASE_URL without keys has none, and what needs sealing is answered 503 `encryption_key_unavailable`
 * (CONN-12): other nodes could not read what one node encrypts under a key of its own.
 */
export async function loadEncryptionKeys(
  config: Pick<Config, 'encryptionKeys' | 'databaseUrl' | 'dataDir'>,
): Promise<EncryptionKey[]> {
  if (config.encryptionKeys) return config.encryptionKeys;
  return config.databaseUrl === null ? loadOrCreateKeyFile(config.dataDir) : [];
}

/** As `loadEncryptionKeys`, but makes no key file: none when there is none yet. */
export async function existingEncryptionKeys(
  config: Pick<Config, 'encryptionKeys' | 'databaseUrl' | 'dataDir'>,
): Promise<EncryptionKey[]> {
  const made = (await load(keyFile(config.dataDir))) !== null;
  return config.encryptionKeys || made ? loadEncryptionKeys(config) : [];
}

const keyFile = (dataDir: string): string => join(dataDir, 'encryption-keys');

/**
 * `DATA_DIR/encryption-keys`, made once with mode 0600, in the form of ENCRYPTION_KEYS: an operator changes the key
 * in it as in the variable.
 * @throws ConfigError when the file exists but holds no keys: new ones would make every secret unreadable
 */
export async function loadOrCreateKeyFile(dataDir: string): Promise<EncryptionKey[]> {
  const file = keyFile(dataDir);
  const text = await loadOrCreate(file, () => `local-1:${randomBytes(32).toString('base64')}\n`);
  try {
    return parseEncryptionKeys(text.trim());
  } catch (error) {
    throw new ConfigError(`${file} cannot be used (${(error as Error).message}), it wants id:base64 of 32 bytes`);
  }
}

/**
 * Warns, in one line, of stored secrets whose keys this node lacks: it puts back or fails what needs them. Examines the ends of
 * the tables only, so that a start costs the same at any size. A start does not fail for it.
 */
export async function warnOfUnknownKeys(sql: Sql, ring: KeyRing, log: Logger): Promise<void> {
  try {
    const { usage, complete } = await sealedUnder(sql, LIMITS.key_sample_rows);
    const unknown = usage.filter(({ key }) => key === null || !ring.keys.includes(key));
    if (unknown.length === 0) return;
    // Not `key`: the log withholds fields of that name.
    const lacking = unknown.map(({ key, column, rows }) => ({ key_id: key, column, rows }));
    const text = 'stored secrets cannot be opened: ENCRYPTION_KEYS lacks their keys';
    log.warn({ key_ids: ring.keys, lacking, at_least: !complete }, text);
  } catch (error) {
    log.warn({ err: error }, 'encryption: the keys that stored secrets need could not be read');
  }
}

/**
 * Notes this node's keys as the installation's; warns, in one line, when they are others: what this node seals no other node opens,
 * and the command line refuses to seal with them. A key that comes beside a known one is a step of a rotation. A start does not
 * fail for it.
 */
export async function noteInstallationKeys(sql: Sql, keys: readonly EncryptionKey[], log: Logger): Promise<void> {
  if (keys.length === 0) return;
  try {
    const comparison = await compareKeys(sql, keys);
    if (belongs(comparison)) return await noteKeys(sql, keys);
    const { installed, differing } = comparison;
    const text = "ENCRYPTION_KEYS are not the installation's: other nodes cannot open what this one seals";
    log.warn({ key_ids: keys.map(({ id }) => id), installation_key_ids: installed, differing }, text);
  } catch (error) {
    log.warn({ err: error }, 'encryption: the keys of the installation could not be read');
  }
}
