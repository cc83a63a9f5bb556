import { randomUUID } from 'node:crypto';
import t from 'tap';
import { endLostWrite } from '../../../storage/operations/lost-writes.js';
import { freshDatabase } from '../../fixture/database.js';
import { insertSimulated, insertWorkspace } from '../../fixture/rows.js';

t.test('a write whose row says that it may run is ended under its epoch alone, and once', async (t) => {
  const { db } = await freshDatabase(t);
  const { id: connectionId, partition } = await insertSimulated(db, await insertWorkspace(db), 'ada');
  await db.query('testEpoch', 'update partition set epoch = 7 where id = $1', [partition]);
  const [id, attemptId] = [randomUUID(), randomUUID()];
  await db.query(
    'testOperation',
    `insert into operation (id, workspace_id, connection_id, partition, capability, status, idempotency_key, fingerprint, input)
     select $1, workspace_id, id, partition, 'social.invitation.send', 'queued', 'k', '\\x00', '{}' from connection where id = $2`,
    [id, connectionId],
  );
  const row = async () =>
    (
      await db.query<{ status: string; epoch: string | null; attempts: { id: string; status: string }[] }>(
        'testRow',
        'select status, epoch, attempts from operation where id = $1',
        [id],
      )
    )[0];
  const write = { id, partition, attemptId, epoch: 7, revision: 1, running_ms: 12 };

  t.equal(await endLostWrite(db, { ...write, epoch: 6 }), false, 'another owner has it: it may run still');
  t.match(await row(), { status: 'queued', attempts: [] });

  t.equal(await endLostWrite(db, write), true);
  const ended = await row();
  t.match(ended, { status: 'outcome_unknown', attempts: [{ id: attemptId, status: 'outcome_unknown' }] });

  t.equal(await endLostWrite(db, write), true, 'it is over');
  t.equal(await endLostWrite(db, { ...write, epoch: 6 }), true, 'whoever asks');
  t.strictSame(await row(), ended);
  t.equal(await endLostWrite(db, { ...write, id: randomUUID() }), true, 'nor does one run that is gone');
});
