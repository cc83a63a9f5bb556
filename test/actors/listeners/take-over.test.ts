import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { LIMITS } from '../../../actors/limits.js';
import { Listeners } from '../../../actors/listeners/listeners.js';
import { ProxyHealth } from '../../../actors/proxy-health.js';
import { socialSite } from '../../../browser-pool/social/site/stand-in.js';
import { addProxy, listFailingProxies, listProxies, removeProxy } from '../../../storage/connections/proxies.js';
import { createLogger } from '../../../storage/log/log.js';
import { PARTITIONS } from '../../../storage/model/records.js';
import type { Database } from '../../../storage/postgres/database.js';
import { keyRing } from '../../../storage/secrets/encryption.js';
import { sessionContext } from '../../../storage/secrets/sealing.js';
import { freshDatabase } from '../../fixture/database.js';
import { eventually } from '../../fixture/eventually.js';
import { insertSocial, insertWorkspace, pinConnection } from '../../fixture/rows.js';
import { NO_SAVES } from '../no-saves.js';

const ring = keyRing([{ id: 'test', key: randomBytes(32) }]);
/** No site renews a session here. */
const SESSION = JSON.stringify({ cookies: [], origins: [] });

/** A proxy that refuses every tunnel after a while; gives its address and how many asked for one at once, at most. */
async function refusingProxy(t: Test) {
  const asked = { now: 0, most: 0, all: 0 };
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', async () => {
      asked.all++;
      asked.most = Math.max(asked.most, ++asked.now);
      await delay(20);
      asked.now--;
      socket.end('HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

async function signedInConnections(db: Database, proxyUrl: string, count: number): Promise<string[]> {
  const workspaceId = await insertWorkspace(db);
  const proxy = await addProxy(db, ring, { region: 'US', url: proxyUrl });
  const ids: string[] = [];
  for (let number = 0; number < count; number++) {
    const { id } = await insertSocial(db, workspaceId, `account-${number}`);
    await pinConnection(db, id, proxy.id);
    await db.query('testSession', 'update connection set session_sealed = $2 where id = $1', [
      id,
      ring.seal(SESSION, sessionContext(id)),
    ]);
    ids.push(id);
  }
  return ids;
}

async function thread(t: Test, count: number) {
  const { db } = await freshDatabase(t);
  const { url, asked } = await refusingProxy(t);
  const ids = await signedInConnections(db, url, count);
  const log = createLogger({ level: 'silent', format: 'json' }, {});
  const site = socialSite({ origin: 'https://www.social.test' });
  const moved: string[] = [];
  const listeners = new Listeners(site, {
    db,
    ring,
    log,
    recorded: () => {},
    saves: NO_SAVES,
    proxies: new ProxyHealth(db, log),
    moved: (id) => moved.push(id),
  });
  t.teardown(() => listeners.close());
  const takeOver = () => listeners.own(Array.from({ length: PARTITIONS }, (_, id) => ({ id, epoch: 1 })));
  const rows = () =>
    db.query<{ connection_id: string; stream_status: string; reason: string; epoch: number }>(
      'testListeners',
      'select connection_id, stream_status, reason, epoch from listener',
    );
  return { db, asked, ids, listeners, moved, takeOver, rows };
}

t.test('a take-over opens its streams a few at a time', async (t) => {
  const { db, asked, listeners, takeOver, rows } = await thread(t, 300);
  await takeOver();
  t.equal(listeners.size, 300);
  await eventually('every stream was asked for', rows, ({ length }) => length === 300);
  t.ok(asked.all >= 300 - LIMITS.stream_openings);
  t.ok(asked.most <= LIMITS.stream_openings, `${asked.most} at once`);
  t.match(await listFailingProxies(db, 10), [{ failure: 'unreachable' }], 'operators are told');
});

t.test('what changed without a hint is found by a look at everything', async (t) => {
  const { db, ids, listeners, takeOver, rows } = await thread(t, 3);
  const [changed, ended, added] = ids as [string, string, string];
  const set = (id: string, health: string, revision: number) =>
    db.query('testChange', 'update connection set health = $2, state_revision = $3 where id = $1', [
      id,
      health,
      revision,
    ]);
  await set(added, 'invalid', 1);
  await takeOver();
  t.equal(listeners.size, 2);
  await eventually('both listen', rows, ({ length }) => length === 2);
  await set(changed, 'ready', 2);
  await set(ended, 'invalid', 2);
  await set(added, 'ready', 2);
  const before = (await rows()).length;
  await listeners.lookAll();
  t.equal(listeners.size, 2, 'one has stopped, and one has begun');
  t.equal(before, 2);
  const statuses = async () => new Map((await rows()).map((row) => [row.connection_id, row.stream_status]));
  await eventually('the new one listens', statuses, (map) => map.has(added));
  t.equal((await statuses()).get(ended), 'stopped');
  await eventually('the changed one listens again', statuses, (map) => map.get(changed) !== 'stopped');
});

t.test('a pin that went without a hint is found by a look at everything, with all that used it', async (t) => {
  const { db, ids, listeners, moved, takeOver, rows } = await thread(t, 2);
  await takeOver();
  await eventually('both listen', rows, ({ length }) => length === 2);
  const [proxy] = await listProxies(db);
  const unpinned = await db.transaction((tx) => removeProxy(tx, proxy?.id ?? ''));
  t.strictSame(unpinned?.sort(), [...ids].sort());
  t.equal(await db.transaction((tx) => removeProxy(tx, proxy?.id ?? '')), undefined, 'it is gone');
  await listeners.lookAll();
  t.equal(listeners.size, 0);
  t.strictSame(moved.sort(), [...ids].sort(), 'their contexts are to close');
  const stopped = { stream_status: 'stopped', reason: 'regional_proxy_unavailable' };
  t.match(await rows(), [stopped, stopped]);
});

t.test('listeners of a partition that was taken again go on under its epoch', async (t) => {
  const { ids, listeners, takeOver, rows } = await thread(t, 1);
  await takeOver();
  await eventually('it listens', rows, ([row]) => row?.epoch === 1);
  for (let id = 0; id < PARTITIONS; id++) listeners.renew(id, 2);
  await eventually('its row has the epoch', rows, ([row]) => row?.epoch === 2);
  t.equal(listeners.size, ids.length);
});
