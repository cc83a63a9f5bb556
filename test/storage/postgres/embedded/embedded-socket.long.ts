import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import t from 'tap';
import { openDatabase } from '../../../../storage/postgres/database.js';
import { connectDatabase } from '../../../../storage/postgres/embedded/embedded.js';
import { isUnreachable, outcomeUnknown, pingDatabase } from '../../../../storage/postgres/liveness.js';
import { dataFolder } from '../../../fixture/data-folder.js';

/** The address that the server sees a client of `url` at; null: it came by a socket. */
async function clientAddress(url: string): Promise<string | null> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ address: string | null }>('select host(inet_client_addr()) as address');
    return rows[0]?.address ?? null;
  } finally {
    await client.end();
  }
}

t.test('the embedded database is reached by a socket in its folder, and over TCP as well', async (t) => {
  const dataDir = await dataFolder(t);
  const first = await connectDatabase({ dataDir, exclusive: true });
  await first.stop();
  await writeFile(join(dataDir, 'postgres', '.s.PGSQL.probe'), ''); // as a start leaves it that is killed while it looks
  const server = await connectDatabase({ dataDir, exclusive: true });
  t.teardown(() => server.stop());
  t.equal(await clientAddress(server.url), null);
  const tcp = new URL(server.url);
  tcp.search = '';
  t.equal(await clientAddress(tcp.href), '127.0.0.1');
  const wrong = new URL(server.url);
  wrong.password = 'wrong';
  await t.rejects(clientAddress(wrong.href), /password/, 'a password is asked for either way');
  const shared = await connectDatabase({ dataDir, exclusive: false });
  t.equal(shared.url, server.url, 'another command takes the same way');
});

for (const name of ['x'.repeat(100), 'a, b']) {
  t.test(`where a socket cannot be, in a folder named ${name.slice(0, 4)}…, it is reached over TCP`, async (t) => {
    const dataDir = join(await dataFolder(t), name);
    const server = await connectDatabase({ dataDir, exclusive: true });
    t.teardown(() => server.stop());
    t.equal(await clientAddress(server.url), '127.0.0.1');
  });
}

t.test('without its socket the database cannot be reached, and nothing was sent', async (t) => {
  const server = await connectDatabase({ dataDir: await dataFolder(t), exclusive: true });
  const db = openDatabase({ url: server.url, maxConnections: 1, applicationName: 'test', onError: () => {} });
  t.teardown(() => db.close());
  await server.stop();
  const client = new pg.Client({ connectionString: server.url });
  const raw = await client.connect().catch((error: unknown) => error);
  const error = await pingDatabase(db).catch((error: unknown) => error);
  for (const one of [raw, error]) t.ok(isUnreachable(one) && !outcomeUnknown(one), String(one));
});
