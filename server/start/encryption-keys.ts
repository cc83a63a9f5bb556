import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { type EncryptionKey, parseEncryptionKeys } from '../../storage/secrets/encryption.js';
import { type Config, ConfigError } from './config.js';
import { loadOrCreate } from './private-file.js';

/**
 * The keys that seal secrets at rest. Given ones win; the embedded database comes with a key file of its own in
 * DATA_DIR; a DATABASE_URL without keys has none, and what needs sealing answers 503 `encryption_key_unavailable`
 * (CONN-12): a key that one node made up would be unreadable to the others.
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
 * @throws ConfigError when the file is there but cannot be read as keys: making new ones would lose every secret
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
