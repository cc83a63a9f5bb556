import t from 'tap';
import { lockIdleConnection } from '../../../../storage/connections/connection-changes.js';
import { operationsThread } from '../thread.js';

/** A node of another version accepted it, during a rolling upgrade or on the way back; its partition is this node's. */
t.test('an operation whose capability this version does not know ends, and holds up nothing', async (t) => {
  const { db, connection, partition, attempts, storeElsewhere, submit, ended } = await operationsThread(
    t,
    async () => ({
      status: 'succeeded',
      result: {},
    }),
  );
  await storeElsewhere('future', 'social.future.thing');
  await storeElsewhere('behind');
  await partition.fetch();
  t.match(await ended('future'), {
    status: 'failed',
    error_code: 'internal_error',
    error_details: { reason: 'capability_unknown', retryable: true },
  });
  t.match(await ended('behind'), { status: 'succeeded' });
  t.equal(attempts.length, 1, 'no provider was asked for it');
  const idle = await db.transaction((tx) => lockIdleConnection(tx, connection.id));
  t.type(idle, 'object', 'its connection can be changed');
  await submit('known');
  t.match(await ended('known'), { status: 'succeeded' });
});
