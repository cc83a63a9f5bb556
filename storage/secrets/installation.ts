import { randomBytes } from 'node:crypto';
import type { Sql } from '../postgres/database.js';
import { type KeyRing, KeyUnknown } from './encryption.js';
import { fingerprintContext } from './sealing.js';

/*
 * The 32 random bytes under which requests are hashed for idempotency (OPS-9). The first node makes them; they stay
 * the same for all nodes, restarts and encryption keys, because under other bytes every repeated request would
 * look like a different one.
 *
 * They are sealed as soon as a node has a key. Those of an installation that had none stay readable beside it until `encryption rotate` removes
 * them: a node without a key reads them when it starts.
 */
interface Stored {
  plain: Buffer | null;
  sealed: Buffer | null;
}

/**
 * The secret, made when there is none; null when it is sealed under a key that the ring lacks. Throws for one that was tampered
 * with.
 */
export async function fingerprintSecret(sql: Sql, ring: KeyRing): Promise<Buffer | null> {
  const made = randomBytes(32);
  const [plain, sealed] = ring.available ? [null, ring.seal(made, fingerprintContext)] : [made, null];
  await sql.query(
    'createInstallation',
    'insert into installation (fingerprint_secret, fingerprint_secret_sealed) values ($1, $2) on conflict do nothing',
    [plain, sealed],
  );
  const stored = await storedSecret(sql);
  if (!stored) throw new Error('the installation has no row');
  if (stored.plain && !stored.sealed && ring.available) {
    await store(sql, stored, { plain: stored.plain, sealed: ring.seal(stored.plain, fingerprintContext) });
  }
  return secretOf(stored, ring);
}

/**
 * Puts the secret under the first key of the ring, and removes the plain one. Gives what it did: `unknown` names the key that
 * the ring lacks.
 */
export async function resealFingerprintSecret(
  sql: Sql,
  ring: KeyRing,
): Promise<{ resealed: number; unknown?: string }> {
  const stored = await storedSecret(sql);
  if (!stored || (!stored.plain && stored.sealed && !ring.stale(stored.sealed))) return { resealed: 0 };
  try {
    const secret = stored.plain ?? ring.open(stored.sealed as Buffer, fingerprintContext);
    return { resealed: await store(sql, stored, { plain: null, sealed: ring.seal(secret, fingerprintContext) }) };
  } catch (error) {
    if (!(error instanceof KeyUnknown)) throw error;
    return { resealed: 0, unknown: error.keyId };
  }
}

/** Replaces a secret whose key is gone for good: repeats of requests from before then look like different ones. True if it did. */
export async function replaceLostFingerprintSecret(sql: Sql, ring: KeyRing): Promise<boolean> {
  const stored = await storedSecret(sql);
  if (!stored || secretOf(stored, ring)) return false;
  const sealed = ring.seal(randomBytes(32), fingerprintContext);
  return (await store(sql, stored, { plain: null, sealed })) > 0;
}

/** The plain one goes first: it needs no key. */
function secretOf({ plain, sealed }: Stored, ring: KeyRing): Buffer | null {
  if (plain || !sealed) return plain;
  try {
    return ring.open(sealed, fingerprintContext);
  } catch (error) {
    if (error instanceof KeyUnknown) return null;
    throw error;
  }
}

async function storedSecret(sql: Sql): Promise<Stored | undefined> {
  const [row] = await sql.query<Stored>(
    'getInstallation',
    'select fingerprint_secret as plain, fingerprint_secret_sealed as sealed from installation',
  );
  return row;
}

/** Only while it still holds what was read: two nodes that start together store one of their values. */
async function store(sql: Sql, before: Stored, next: Stored): Promise<number> {
  const rows = await sql.query(
    'storeFingerprintSecret',
    `update installation set fingerprint_secret = $1, fingerprint_secret_sealed = $2
     where fingerprint_secret is not distinct from $3 and fingerprint_secret_sealed is not distinct from $4
     returning id`,
    [next.plain, next.sealed, before.plain, before.sealed],
  );
  return rows.length;
}
