import { randomBytes } from 'node:crypto';
import t from 'tap';
import { DataVault } from '../../../storage/secrets/data-vault.js';
import { keyRing } from '../../../storage/secrets/encryption.js';

const ring = keyRing([{ id: 'one', key: randomBytes(32) }]);
const other = keyRing([{ id: 'other', key: randomBytes(32) }]);

t.test('what is sealed opens at its place, under its key, and whole', async (t) => {
  const vault = new DataVault(ring);
  const stored = vault.store('{"a":1}', 'event/1/data');
  t.equal(stored.plain, null);
  t.same(vault.openValue({ plain: null, sealed: stored.sealed }, 'event/1/data'), { a: 1 });
  t.not(stored.sealed?.toString('hex'), vault.store('{"a":1}', 'event/1/data').sealed?.toString('hex'));
  const sealed = stored.sealed as Buffer;
  t.throws(() => vault.openText({ plain: null, sealed }, 'event/2/data'), 'moved to another row');
  t.throws(() => new DataVault(other).openText({ plain: null, sealed }, 'event/1/data'), /no encryption key/);
  for (let at = 0; at < sealed.length; at++) {
    const changed = Buffer.from(sealed);
    changed[at] = (changed[at] ?? 0) ^ 1;
    t.throws(() => vault.openText({ plain: null, sealed: changed }, 'event/1/data'), `byte ${at} changed`);
    t.throws(() => vault.openText({ plain: null, sealed: sealed.subarray(0, at) }, 'event/1/data'), `cut at ${at}`);
  }
});

t.test('without a key values are stored plain', async (t) => {
  const keyless = new DataVault(keyRing([]));
  t.equal(keyless.store('{}', 'place').plain, '{}');
  t.same(keyless.openBytes(keyless.storeBytes(Buffer.from('x'), 'place'), 'place'), Buffer.from('x'));
});

t.test('a text is found by its hash under the installation secret only', async (t) => {
  const [vault, same, foreign] = [new DataVault(ring), new DataVault(other), new DataVault(ring)];
  const secret = randomBytes(32);
  t.equal(vault.hash('text'), null);
  vault.hashUnder(secret);
  same.hashUnder(secret);
  foreign.hashUnder(randomBytes(32));
  t.same(vault.hash('text'), same.hash('text'));
  t.notSame(vault.hash('text'), foreign.hash('text'));
});
