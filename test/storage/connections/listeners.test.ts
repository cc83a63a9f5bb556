import t from 'tap';
import { closedGapsWithout, closeGap, openGap } from '../../../storage/connections/listeners.js';
import { freshDatabase } from '../../fixture/database.js';
import { recorded } from '../../fixture/recorded.js';
import { insertSocial, insertWorkspace } from '../../fixture/rows.js';

t.test('a gap belongs to the owner that listens now: a former one neither opens nor closes it', async (t) => {
  const { db } = await freshDatabase(t);
  const workspaceId = await insertWorkspace(db);
  const { id: connectionId, partition } = await insertSocial(db, workspaceId, 'ada');
  await db.query('testTake', 'update partition set epoch = 2 where id = $1', [partition]);
  t.equal(await openGap(db, connectionId, 1, 'stream_closed'), undefined);
  const gap = await openGap(db, connectionId, 2, 'owner_changed');
  t.equal(gap?.opened, true);
  t.strictSame(
    await openGap(db, connectionId, 2, 'stream_closed'),
    { id: gap?.id, opened: false },
    'the open one again: its event may be missing',
  );
  const unrecorded = () => closedGapsWithout(db, connectionId, 'connection.stream_restored');
  await closeGap(db, connectionId, 1);
  t.strictSame(await unrecorded(), [], 'it is still open');
  await closeGap(db, connectionId, 2);
  t.strictSame(await unrecorded(), [gap?.id], 'closed, and nothing recorded');
  const event = {
    type: 'connection.stream_restored',
    providerEventId: `connection.stream_restored/${gap?.id}`,
  } as const;
  await recorded(db, workspaceId, [{ connectionId, ...event, data: {} }]);
  t.strictSame(await unrecorded(), []);
});
