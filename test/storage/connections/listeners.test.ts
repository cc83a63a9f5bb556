import t from 'tap';
import { closeGap, openGap, saveListener } from '../../../storage/connections/listeners.js';
import { freshDatabase } from '../../fixture/database.js';
import { insertSocial, insertWorkspace } from '../../fixture/rows.js';

t.test('a gap belongs to the owner that listens now: a former one neither opens nor closes it', async (t) => {
  const { db } = await freshDatabase(t);
  const { id: connectionId } = await insertSocial(db, await insertWorkspace(db), 'ada');
  const listening = { streamStatus: 'connecting', status: 'running', reason: null, lastEventId: null } as const;
  await saveListener(db, { connectionId, epoch: 2, lastFrameAt: null, ...listening });
  t.equal(await openGap(db, connectionId, 1, 'stream_closed'), undefined);
  const gap = await openGap(db, connectionId, 2, 'owner_changed');
  t.ok(gap);
  t.equal(await closeGap(db, connectionId, 1), undefined);
  t.equal(await closeGap(db, connectionId, 2), gap);
});
