import t from 'tap';
import { type ConnectionChange, changeConnection, endSession } from '../../../storage/connections/session-effects.js';
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
  t.ok(await endSession(db, id, 1, partition?.epoch ?? -1, 'needs_login'));
  t.equal(await health(), 'needs_login');

  const checked: ConnectionChange = {
    connectionId: id,
    expectedRevision: 1,
    revision: 1,
    health: 'ready',
    sessionSealed: null,
    actorId: 'ACoAAada',
    recruiter: null,
  };
  t.ok(await changeConnection(db, checked), 'the check is stored');
  t.equal(await health(), 'needs_login', 'and does not restore a session that is gone');
  t.ok(await changeConnection(db, { ...checked, revision: 2, sessionSealed: Buffer.from('new') }));
  t.equal(await health(), 'ready', 'a new session does');
});
