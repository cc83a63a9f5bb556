import { once } from 'node:events';
import t from 'tap';
import type { Execution, Outcome } from '../../../../actors/operations/attempt/execution.js';
import { cancelOperation } from '../../../../storage/operations/operations.js';
import { eventually } from '../../../fixture/eventually.js';
import { operationsThread } from '../thread.js';

const SEND = ['social.invitation.send', { recipient_actor_id: 'ACoAA1' }] as const;
const DONE: Outcome = { status: 'succeeded', result: {} };

t.test('a cancel ends an attempt that has not passed its boundary, and nothing is sent', async (t) => {
  const sent: string[] = [];
  const thread = await operationsThread(t, async (execution) => {
    if (!execution.signal.aborted) await once(execution.signal, 'abort');
    await execution.boundary();
    sent.push(execution.operationId);
    return DONE;
  });
  const { db, partition, connection, submit, ended, attempts } = thread;
  await submit('one', ...SEND);
  const [id] = await eventually(
    'it runs',
    () => attempts,
    ({ length }) => length === 1,
  );
  t.equal(await db.transaction((tx) => cancelOperation(tx, id!)), 'requested');
  partition.actor(connection.id)?.cancel(id!);
  t.match(await ended('one'), { status: 'canceled' });
  t.strictSame(sent, []);
});

t.test('a cancel that no hint tells of is found at the boundary', async (t) => {
  const sent: string[] = [];
  const thread = await operationsThread(t, async (execution) => {
    t.equal(await db.transaction((tx) => cancelOperation(tx, execution.operationId)), 'requested');
    await execution.boundary();
    sent.push(execution.operationId);
    return DONE;
  });
  const { db, submit, ended } = thread;
  await submit('one', ...SEND);
  t.match(await ended('one'), { status: 'canceled' });
  t.strictSame(sent, []);
});

t.test('a cancel past the boundary changes nothing: what was sent is told as it ended', async (t) => {
  const dispatching = Promise.withResolvers<Execution>();
  const told = Promise.withResolvers<void>();
  const thread = await operationsThread(t, async (execution) => {
    await execution.boundary();
    dispatching.resolve(execution);
    await told.promise;
    t.equal(execution.signal.aborted, false, 'it is not interrupted');
    return DONE;
  });
  const { db, partition, connection, submit, ended } = thread;
  await submit('one', ...SEND);
  const { operationId } = await dispatching.promise;
  t.equal(await db.transaction((tx) => cancelOperation(tx, operationId)), 'requested');
  partition.actor(connection.id)?.cancel(operationId);
  told.resolve();
  t.match(await ended('one'), { status: 'succeeded' });
});
