import { randomBytes } from 'node:crypto';
import t from 'tap';
import { warnOfUnknownKeys } from '../../../server/start/encryption-keys.js';
import { addProxy } from '../../../storage/connections/proxies.js';
import type { Logger } from '../../../storage/log.js';
import type { Sql } from '../../../storage/postgres/database.js';
import { keyRing } from '../../../storage/secrets/encryption.js';
import { freshDatabase } from '../../fixture/database.js';

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
  const broken: Sql = { query: () => Promise.reject(new Error('canceled')) };
  t.match(await warnings(broken, keyRing([])), [{ err: Error }]);
});

const key = (id: string) => ({ id, key: randomBytes(32) });

async function warnings(sql: Sql, ring: ReturnType<typeof keyRing>): Promise<object[]> {
  const lines: object[] = [];
  await warnOfUnknownKeys(sql, ring, { warn: (fields: object) => lines.push(fields) } as unknown as Logger);
  return lines;
}
