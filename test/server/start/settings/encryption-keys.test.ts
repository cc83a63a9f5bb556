import { randomBytes } from 'node:crypto';
import t from 'tap';
import { noteInstallationKeys, warnOfUnknownKeys } from '../../../../server/start/settings/encryption-keys.js';
import { addProxy } from '../../../../storage/connections/proxies.js';
import type { Logger } from '../../../../storage/log/log.js';
import { PLAIN_VAULT } from '../../../../storage/model/vault.js';
import type { Sql } from '../../../../storage/postgres/database.js';
import { type EncryptionKey, keyRing } from '../../../../storage/secrets/encryption.js';
import { compareKeys } from '../../../../storage/secrets/installation-keys.js';
import { freshDatabase } from '../../../fixture/database.js';

t.test('a start says in one line which secrets it cannot open, and nothing when it can open all', async (t) => {
  const { db } = await freshDatabase(t);
  const [former, next] = [keyRing([key('former')]), keyRing([key('next')])];
  const proxy = { region: 'US', url: 'http://127.0.0.1:1', username: 'user', password: 'secret' };
  for (let n = 0; n < 3; n++) await addProxy(db, next, proxy);
  t.strictSame(await warnings(db, next), []);
  t.match(await warnings(db, former), [
    {
      key_ids: ['former'],
      lacking: [{ key_id: 'next', column: 'regional_proxy.credentials_sealed', rows: 3 }],
      at_least: false,
    },
  ]);
  t.match(await warnings(db, keyRing([])), [{ key_ids: [], lacking: [{ rows: 3 }] }]);
});

t.test('a start does not fail because that cannot be looked up', async (t) => {
  const broken: Sql = { vault: PLAIN_VAULT, query: () => Promise.reject(new Error('canceled')) };
  t.match(await warnings(broken, keyRing([])), [{ err: Error }]);
});

t.test('nodes note their keys, and one that shares none of them says so in one line', async (t) => {
  const { db } = await freshDatabase(t);
  const [former, next, stranger] = [key('former'), key('next'), key('stranger')];
  const installed = async () => (await compareKeys(db, [])).installed;
  t.strictSame(await noted(db, []), [], 'without a key there is nothing to note');
  t.strictSame(await noted(db, [former]), []);
  t.strictSame(await noted(db, [former, next]), [], 'a rotation begins');
  t.strictSame(await noted(db, [next]), [], 'and ends');
  t.strictSame(await installed(), ['former', 'next']);
  const warning = { key_ids: ['stranger'], installation_key_ids: ['former', 'next'], differing: [] };
  t.strictSame(await noted(db, [stranger]), [warning]);
  t.match(await noted(db, [next, key('former')]), [{ differing: ['former'] }], 'another key of the same name');
  t.strictSame(await installed(), ['former', 'next']);
});

const key = (id: string) => ({ id, key: randomBytes(32) });

const warnings = (sql: Sql, ring: ReturnType<typeof keyRing>) => lines((log) => warnOfUnknownKeys(sql, ring, log));
const noted = (sql: Sql, keys: EncryptionKey[]) => lines((log) => noteInstallationKeys(sql, keys, log));

async function lines(work: (log: Logger) => Promise<void>): Promise<object[]> {
  const warned: object[] = [];
  await work({ warn: (fields: object) => warned.push(fields) } as unknown as Logger);
  return warned;
}
