import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { type EncryptionKey, parseEncryptionKeys } from '../../storage/secrets/encryption.js';
import { type Config, ConfigError } from './config.js';
import { loadOrCreate } from './private-file.js';

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

/**
 * `DATA_DIR/encryption-keys`, made once with mode 0600, in the form of ENCRYPTION_KEYS: an operator may put a new
 * key in front and run `admin encryption rotate`.
 * @throws ConfigError when the file exists but holds no keys: new ones would make every secret unreadable
 */
export async function loadOrCreateKeyFile(dataDir: string): Promise<EncryptionKey[]> {
  const file = join(dataDir, 'encryption-keys');
  const text = await loadOrCreate(file, () => `local-1:${randomBytes(32).toString('base64')}\n`);
  try {
    return parseEncryptionKeys(text.trim());
  } catch (error) {
    throw new ConfigError(`${file} cannot be used (${(error as Error).message}), it wants id:base64 of 32 bytes`);
  }
}
