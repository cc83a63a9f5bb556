import { randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import { cancelOpenDeliveries } from '../../../storage/deliveries/cancellation.js';
import {
  type Claim,
  finishDeliveries,
  type StartedDelivery,
  startDeliveries,
  undoStarts,
} from '../../../storage/deliveries/deliveries.js';
import { fetchSubscriptions, parkSubscriptions } from '../../../storage/deliveries/delivery-queue.js';
import { fetchedJobs, putBackStrays, recoverStrays } from '../../../storage/deliveries/strays.js';
import type { Sql } from '../../../storage/postgres/database.js';
import { deliveries, insertConnection, insertSubscription, record } from '../../actors/deliveries/delivery-host.js';
import { freshDatabase } from '../../fixture/database.js';
import { holding, lockAwaited, waitingForLocks } from '../../fixture/locks.js';

/** Statements whose answer was lost, and which the server executes later: with a snapshot from before what came after them. */

const EPOCH = 7;
const WAITS_s = [1, 5, 30, 120];

async function setUp(t: Test) {
  const { db } = await freshDatabase(t);
  const connection = await insertConnection(db);
  const { partition } = connection;
  await db.query('testEpoch', 'update partition set epoch = $2 where id = $1', [partition, EPOCH]);
  const id = await insertSubscription(db, connection, 'https://receiver.test/');
  await record(db, connection);
  const subscription = { id, partition, epoch: EPOCH };
  const start = async (sql: Sql): Promise<StartedDelivery> => {
    const claim: Claim = { subscription, attemptIds: [randomUUID()], from_us: null };
    const [one] = await startDeliveries(sql, [claim]);
    if (!one) throw new Error('nothing is due');
    return one;
  };
  return { db, connection, subscription, start };
}

const ended = ({ id, epoch, attempt_id: attemptId }: StartedDelivery, delivered: boolean) => ({
  ...{ id, epoch, attemptId, statusCode: delivered ? 204 : null },
  ...(delivered ? { outcome: 'delivered' as const, error: null } : { outcome: 'failed' as const, error: 'timeout' }),
});

const makeDue = (sql: Sql) =>
  sql.query('testDue', `update delivery set next_attempt_at = now() where status = 'pending'`);

t.test('the end of an attempt that is written late leaves the next attempt alone', async (t) => {
  const { db, start } = await setUp(t);
  const first = await start(db);
  const commit = await holding(db, async (tx) => {
    await finishDeliveries(tx, [ended(first, false)], WAITS_s);
    await makeDue(tx);
    await start(tx);
  });
  const late = finishDeliveries(waitingForLocks(db), [ended(first, true)], WAITS_s);
  await lockAwaited(db);
  await commit();
  t.strictSame(await late, []);
  t.match(await deliveries(db), [{ status: 'sending', attempts: [{ outcome: 'failed' }, { outcome: 'sending' }] }]);
});

t.test('a stray that was taken back meanwhile is not recovered, nor is the attempt that followed it', async (t) => {
  const { db, connection, start } = await setUp(t);
  const stray = await start(db);
  const commit = await holding(db, async (tx) => {
    await undoStarts(tx, [stray]);
    await start(tx);
  });
  const { partition } = connection;
  const recovered = recoverStrays(
    waitingForLocks(db),
    [{ id: partition, epoch: EPOCH }],
    [{ delivery_id: stray.id, attempt_id: stray.attempt_id, partition }],
  );
  await lockAwaited(db);
  await commit();
  t.strictSame(await recovered, []);
  t.match(await deliveries(db), [
    { status: 'sending', attempt_count: 1, attempts: [{ sequence: 1, outcome: 'sending' }] },
  ]);
});

t.test('a start that is taken back late has its delivery looked for at once, though the job was parked', async (t) => {
  const { db, connection, subscription, start } = await setUp(t);
  const held = { id: connection.partition, epoch: EPOCH };
  const full = { workspaces: [], destinations: [] };
  const stray = await start(db);
  await record(db, connection);
  t.equal((await fetchSubscriptions(db, held, 10, full)).length, 1);
  await finishDeliveries(db, [ended(await start(db), false)], [120]);
  await parkSubscriptions(db, [subscription]);
  t.strictSame(await fetchSubscriptions(db, held, 10, full), [], 'nothing is due for two minutes');
  await undoStarts(db, [stray]);
  t.equal((await fetchSubscriptions(db, held, 10, full)).length, 1);
  t.equal((await start(db)).id, stray.id);
});

t.test('a start that is taken back beside a cancellation stays canceled, whichever comes first', async (t) => {
  const { db, connection, start } = await setUp(t);
  const first = await start(db);
  await db.query('testInactive', 'update subscription set active = false');
  const commit = await holding(db, (tx) => cancelOpenDeliveries(tx, [connection.id], 10));
  const undone = undoStarts(db, [first]);
  await lockAwaited(db);
  await commit();
  await undone;
  t.match(await deliveries(db), [
    { status: 'canceled', attempt_count: 1, attempts: [{ sequence: 1, outcome: 'canceled' }] },
  ]);
});

t.test('a stray job that another transaction holds is left as it is, and waited for by nobody', async (t) => {
  const { db, connection } = await setUp(t);
  const held = { id: connection.partition, epoch: EPOCH };
  await fetchSubscriptions(db, held, 10, { workspaces: [], destinations: [] });
  const queue = { partition: connection.partition, epoch: EPOCH, after: undefined };
  const { jobs } = await fetchedJobs(db, [queue], 10);
  t.equal(jobs.length, 1);
  const commit = await holding(db, (tx) =>
    tx.query('testHold', 'select from pgboss.job where id = $1 for update', [jobs[0]!.id]),
  );
  t.strictSame(await putBackStrays(db, [held], jobs), []);
  await commit();
  t.equal((await putBackStrays(db, [held], jobs)).length, 1);
});
