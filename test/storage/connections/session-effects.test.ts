import t from 'tap';
import { addProxy } from '../../../storage/connections/proxies.js';
import {
  type ConnectionChange,
  changeConnection,
  endSession,
  renewSession,
} from '../../../storage/connections/session-effects.js';
import { keyRing } from '../../../storage/secrets/encryption.js';
import { freshDatabase } from '../../fixture/database.js';
import { insertSocial, insertWorkspace } from '../../fixture/rows.js';

t.test('a session that the stream saw refused is not made ready by a check that was under way', async (t) => {
  const { db } = await freshDatabase(t);
  const { id } = await insertSocial(db, await insertWorkspace(db), 'ada');
  const health = async () =>
    (await db.query<{ health: string }>('testHealth', 'select health from connection where id = $1', [id]))[0]?.health;
  const [partition] = await db.query<{ epoch: number }>(
    'testEpoch',
    'select p.epoch from partition p join connection c on c.partition = p.id where c.id = $1',
    [id],
  );
  t.ok(await endSession(db, id, { revision: 1, session: Buffer.from([0]) }, partition?.epoch ?? -1, 'needs_login'));
  t.equal(await health(), 'needs_login');

  const checked: ConnectionChange = {
    connectionId: id,
    expectedRevision: 1,
    revision: 1,
    health: 'ready',
    sessionSealed: null,
    healthReason: null,
    ofSession: null,
    actorId: 'ACoAAada',
    passwordSealed: null,
    proxyId: null,
    recruiter: null,
  };
  t.ok(await changeConnection(db, checked), 'the check is stored');
  t.equal(await health(), 'needs_login', 'and does not restore a session that is gone');
  t.ok(await changeConnection(db, { ...checked, revision: 2, sessionSealed: Buffer.from('new') }));
  t.equal(await health(), 'ready', 'a new session does');
});

t.test(
  'a renewed session is stored by the owner of its partition, under its revision, while it is ready',
  async (t) => {
    const { db } = await freshDatabase(t);
    const { id, partition } = await insertSocial(db, await insertWorkspace(db), 'ada');
    await db.query('testEpoch', 'update partition set epoch = 7 where id = $1', [partition]);
    const row = async () => {
      const [found] = await db.query<{ session_sealed: Buffer; state_revision: number }>(
        'testSession',
        'select session_sealed, state_revision from connection where id = $1',
        [id],
      );
      return { session: found?.session_sealed?.toString(), revision: found?.state_revision };
    };
    const renew = (session: string, held: { revision?: number; epoch?: number } = {}) =>
      renewSession(db, { connectionId: id, revision: 1, epoch: 7, ...held }, () => Buffer.from(session));
    t.ok(await renew('renewed'));
    t.strictSame(await row(), { session: 'renewed', revision: 1 }, 'which stays');
    t.notOk(await renew('late', { revision: 0 }));
    t.notOk(await renew('former owner', { epoch: 6 }));
    t.ok(await renewSession(db, { connectionId: id, revision: 1, epoch: 7 }, () => undefined), 'nothing is to change');
    t.strictSame(await row(), { session: 'renewed', revision: 1 });

    const used = { revision: 1, session: Buffer.from('before') };
    t.notOk(await endSession(db, id, used, 7, 'needs_login'), 'a refusal of the one before ends nothing');
    t.strictSame(await row(), { session: 'renewed', revision: 1 });
    t.ok(await endSession(db, id, { ...used, session: Buffer.from('renewed') }, 7, 'needs_login'));
    t.notOk(await renew('too late'));
    t.strictSame(await row(), { session: undefined, revision: 1 });
  },
);

t.test('a session is not pinned to a proxy that was switched off meanwhile', async (t) => {
  const { db } = await freshDatabase(t);
  const { id } = await insertSocial(db, await insertWorkspace(db), 'ada');
  const proxy = await addProxy(db, keyRing([]), { region: 'US', url: 'http://127.0.0.1:1' });
  const pinned = async () =>
    (await db.query<{ proxy_id: string | null }>('testPin', 'select proxy_id from connection where id = $1', [id]))[0]
      ?.proxy_id;
  const before = await pinned();
  const signedIn: ConnectionChange = {
    ...{ connectionId: id, expectedRevision: 1, revision: 2, health: 'ready', healthReason: null, ofSession: null },
    ...{
      sessionSealed: Buffer.from('new'),
      actorId: 'ACoAAada',
      passwordSealed: null,
      proxyId: proxy.id,
      recruiter: null,
    },
  };
  const use = (active: boolean) =>
    db.query('testActive', 'update regional_proxy set active = $2 where id = $1', [proxy.id, active]);
  await use(false);
  t.equal(await changeConnection(db, signedIn), false);
  t.equal(await pinned(), before, 'nothing of the change is stored');
  await use(true);
  t.equal(await changeConnection(db, signedIn), true);
  t.equal(await pinned(), proxy.id);
});
