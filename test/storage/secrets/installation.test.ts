import { randomBytes } from 'node:crypto';
import t from 'tap';
import type { Database } from '../../../storage/postgres/database.js';
import { keyRing } from '../../../storage/secrets/encryption.js';
import { fingerprintSecret, replaceLostFingerprintSecret } from '../../../storage/secrets/installation.js';
import { sealedUnder } from '../../../storage/secrets/key-usage.js';
import { reencryptAll } from '../../../storage/secrets/reencrypt.js';
import { freshDatabase } from '../../fixture/database.js';

const [former, next] = [
  { id: 'former', key: randomBytes(32) },
  { id: 'next', key: randomBytes(32) },
];
const COLUMN = 'installation.fingerprint_secret_sealed';

async function plain(db: Database): Promise<Buffer | null> {
  const [row] = await db.query<{ plain: Buffer | null }>(
    'testPlain',
    'select fingerprint_secret as plain from installation',
  );
  return row?.plain ?? null;
}

t.test('a new installation with a key has the secret sealed only, the same for every node', async (t) => {
  const { db } = await freshDatabase(t);
  const rings = [keyRing([former]), keyRing([former, next])];
  const made = await Promise.all(rings.map((ring) => fingerprintSecret(db, ring)));
  t.match(made[0], { length: 32 });
  t.same(made[1], made[0]);
  t.equal(await plain(db), null);
  t.match(await sealedUnder(db, 2), { usage: [{ column: COLUMN, key: 'former', rows: 1 }], complete: true });
});

t.test('it follows the rotation of keys and stays what it was', async (t) => {
  const { db } = await freshDatabase(t);
  const secret = await fingerprintSecret(db, keyRing([former]));
  t.equal(await fingerprintSecret(db, keyRing([next])), null);
  t.match(await reencryptAll(db, keyRing([next])), { resealed: { [COLUMN]: 0 }, unknown: { former: 1 } });
  t.match(await reencryptAll(db, keyRing([next, former])), { resealed: { [COLUMN]: 1 }, unknown: {} });
  t.match(await reencryptAll(db, keyRing([next, former])), { resealed: { [COLUMN]: 0 } });
  t.same(await fingerprintSecret(db, keyRing([next])), secret);
});

t.test('a plain one of a former version is sealed beside it, and removed by a rotation', async (t) => {
  const { db } = await freshDatabase(t);
  const secret = randomBytes(32);
  await db.query('testFormer', 'insert into installation (fingerprint_secret) values ($1)', [secret]);
  t.same(await fingerprintSecret(db, keyRing([])), secret, 'without a key it stays as it is');
  t.match((await sealedUnder(db, 2)).usage, []);
  t.same(await fingerprintSecret(db, keyRing([former])), secret);
  t.same(await plain(db), secret, 'a node of the version before may still be started');
  t.match(await reencryptAll(db, keyRing([former])), { resealed: { [COLUMN]: 1 } });
  t.equal(await plain(db), null);
  t.same(await fingerprintSecret(db, keyRing([former])), secret);
});

t.test('without its key there is none, until it is replaced', async (t) => {
  const { db } = await freshDatabase(t);
  await fingerprintSecret(db, keyRing([former]));
  t.equal(await fingerprintSecret(db, keyRing([])), null);
  t.equal(await replaceLostFingerprintSecret(db, keyRing([former])), false);
  t.equal(await replaceLostFingerprintSecret(db, keyRing([next])), true);
  t.match(await fingerprintSecret(db, keyRing([next])), { length: 32 });
});
