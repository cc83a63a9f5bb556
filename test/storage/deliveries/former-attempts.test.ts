import { randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import { cancelOpenDeliveries } from '../../../storage/deliveries/cancellation.js';
import {
  finishDeliveries,
  heldStarts,
  type StartedDelivery,
  startDeliveries,
  undoStarts,
} from '../../../storage/deliveries/deliveries.js';
import { listDeliveryAttempts } from '../../../storage/deliveries/deliveries-read.js';
import { recoverDeliveries } from '../../../storage/deliveries/recovery.js';
import { openAttempts, recoverStrays } from '../../../storage/deliveries/strays.js';
import { insertConnection, insertSubscription, record } from '../../actors/deliveries/delivery-host.js';
import { freshDatabase } from '../../fixture/database.js';

/*
 * A node of the version before 0003 inserts the row of an attempt with its start, and knows nothing of the attempt in the row of the delivery. While
 * both versions run, each ends what the other has begun. Here the statements of the version before are written out.
 */

const EPOCH = 7;

async function setUp(t: Test) {
  const { db } = await freshDatabase(t);
  const connection = await insertConnection(db);
  const { partition } = connection;
  const epochIs = (epoch: number) =>
    db.query('testEpoch', 'update partition set epoch = $2 where id = $1', [partition, epoch]);
  await epochIs(EPOCH);
  const id = await insertSubscription(db, connection, 'https://receiver.test/');
  await record(db, connection);
  const start = async (): Promise<StartedDelivery> => {
    const subscription = { id, partition, epoch: EPOCH };
    const [one] = await startDeliveries(db, [{ subscription, attemptIds: [randomUUID()], from_us: null }]);
    if (!one) throw new Error('nothing is due');
    return one;
  };
  /** As the version before starts the one delivery that there is. */
  const formerStart = async (epoch = EPOCH): Promise<string> => {
    const [row] = await db.query<{ id: string }>(
      'formerStart',
      `with started as (
         update delivery set status = 'sending', epoch = $1, next_attempt_at = null, attempt_count = attempt_count + 1,
           series_attempts = series_attempts + 1 where status = 'pending' returning id, attempt_count
       )
       insert into delivery_attempt (id, delivery_id, sequence, outcome, started_at)
       select gen_random_uuid(), id, attempt_count, 'sending', now() from started returning id`,
      [epoch],
    );
    if (!row) throw new Error('nothing is pending');
    return row.id;
  };
  const delivery = async () =>
    (await db.query<{ id: string; status: string }>('testOne', 'select id, status from delivery'))[0]!;
  const attempts = async () =>
    (await listDeliveryAttempts(db, (await delivery()).id)).map(({ id, sequence, outcome }) => [id, sequence, outcome]);
  return { db, connection, partition, start, formerStart, delivery, attempts, epochIs };
}

const ended = ({ id, epoch, attempt_id: attemptId }: StartedDelivery) => ({
  ...{ id, epoch, attemptId, statusCode: 204, outcome: 'delivered' as const, error: null },
});

t.test('what a former node has begun is recovered with its row, and shown with it', async (t) => {
  const { db, partition, formerStart, delivery, attempts } = await setUp(t);
  const open = await formerStart();
  t.strictSame(await attempts(), [[open, 1, 'sending']]);
  t.equal(await recoverDeliveries(db, [partition]), 1);
  t.strictSame(await attempts(), [[open, 1, 'abandoned']]);
  t.equal((await delivery()).status, 'pending');
});

t.test('so is a stray of a former node', async (t) => {
  const { db, partition, formerStart, delivery, attempts } = await setUp(t);
  const open = await formerStart();
  const strays = await openAttempts(db, [partition], [randomUUID()], 10);
  t.strictSame(strays, [{ delivery_id: (await delivery()).id, attempt_id: open, partition }]);
  t.strictSame(await openAttempts(db, [partition], [open], 10), []);
  t.equal((await recoverStrays(db, [{ id: partition, epoch: EPOCH }], strays)).length, 1);
  t.strictSame(await attempts(), [[open, 1, 'abandoned']]);
});

t.test('so is what a former node has begun of a delivery that is canceled', async (t) => {
  const { db, connection, formerStart, delivery, attempts } = await setUp(t);
  const open = await formerStart();
  await db.query('testInactive', 'update subscription set active = false');
  t.equal(await cancelOpenDeliveries(db, [connection.id], 10), 1);
  t.strictSame(await attempts(), [[open, 1, 'canceled']]);
  t.equal((await delivery()).status, 'canceled');
});

t.test(
  'a start that a former node recovered and began again is neither ended nor taken back by who made it',
  async (t) => {
    const { db, partition, start, formerStart, delivery, attempts, epochIs } = await setUp(t);
    const first = await start();
    t.strictSame(await attempts(), [[first.attempt_id, 1, 'sending']]);
    await epochIs(EPOCH + 1);
    await db.query(
      'formerRecovery',
      `update delivery set status = 'pending', epoch = null, next_attempt_at = now(), series_attempts = 0 where status = 'sending'`,
    );
    t.strictSame(await attempts(), [], 'a former node notes no attempt that has no row');
    const open = await formerStart(EPOCH + 1);
    t.strictSame(await attempts(), [[open, 2, 'sending']]);
    await undoStarts(db, [first]);
    t.strictSame(await heldStarts(db, [first]), []);
    t.strictSame(await finishDeliveries(db, [ended(first)], [1]), []);
    t.equal((await delivery()).status, 'sending');
    t.match(await openAttempts(db, [partition], [], 10), [{ attempt_id: open }]);
    t.equal(await recoverDeliveries(db, [partition]), 1);
    t.strictSame(await attempts(), [[open, 2, 'abandoned']]);
  },
);

t.test('an attempt whose delivery a former node has canceled is stored as canceled, with what was seen', async (t) => {
  const { db, start, attempts } = await setUp(t);
  const one = await start();
  await db.query('formerCancel', `update delivery set status = 'canceled', next_attempt_at = null`);
  for (const _ of [1, 2]) {
    t.strictSame(await finishDeliveries(db, [ended(one)], [1]), [{ id: one.id, status: 'canceled' }]);
    t.strictSame(await attempts(), [[one.attempt_id, 1, 'canceled']]);
  }
});
