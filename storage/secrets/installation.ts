import { randomBytes } from 'node:crypto';
import type { Sql } from '../postgres/database.js';

/**
 * The 32 random bytes under which requests are hashed for idempotency (OPS-9). The first node makes them; they stay
 * the same for all nodes, restarts and encryption keys, because under other bytes every repeated request would
 * look like a different one.
 */
export async function fingerprintSecret(sql: Sql): Promise<Buffer> {
  await sql.query(
    'createInstallation',
    'insert into installation (fingerprint_secret) values ($1) on conflict do nothing',
    [randomBytes(32)],
  );
  const [row] = await sql.query<{ fingerprint_secret: Buffer }>(
    'getInstallation',
    'select fingerprint_secret from installation',
  );
  if (!row) throw new Error('the installation has no row');
  return row.fingerprint_secret;
}
