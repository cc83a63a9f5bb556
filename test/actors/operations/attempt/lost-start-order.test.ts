import t from 'tap';
import { operationsThread } from '../thread.js';

/** A start is committed without waiting for the disk: a crash of the database can lose it. What comes next of its attempt finds no such attempt. */
t.test('an operation whose start the database lost stays before those behind it', async (t) => {
  const order: string[] = [];
  const both = Promise.withResolvers<void>();
  const { db, submit, ended } = await operationsThread(t, async (execution) => {
    const [row] = await db.query<{ idempotency_key: string }>(
      'testKey',
      'select idempotency_key from operation where id = $1',
      [execution.operationId],
    );
    const key = row?.idempotency_key ?? '';
    order.push(key);
    if (order.length === 1) {
      await both.promise;
      await db.query(
        'testLostStart',
        `update operation set status = 'queued', epoch = null, attempts = '[]', timeline = jsonb_build_array(timeline -> 0) where id = $1`,
        [execution.operationId],
      );
      await execution.storeFile(Buffer.from('abc')); // its row does not show this attempt: nothing is stored
    }
    return { status: 'succeeded', result: {} };
  });
  await submit('one');
  await submit('two');
  both.resolve();
  await ended('two');
  await ended('one');
  t.strictSame(order, ['one', 'one', 'two'], 'in the order of acceptance');
});
