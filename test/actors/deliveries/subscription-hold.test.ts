import t, { type Test } from 'tap';
import { LIMITS } from '../../../actors/deliveries/limits.js';
import { fetchSubscriptions, parkSubscriptions } from '../../../storage/deliveries/delivery-queue.js';
import { setHold } from '../../../storage/deliveries/subscription-hold.js';
import type { Database } from '../../../storage/postgres/database.js';
import { authority } from '../../fixture/certificates.js';
import { freshDatabase } from '../../fixture/database.js';
import { clockedDatabase } from '../../fixture/database-clock.js';
import { eventually } from '../../fixture/eventually.js';
import { type Answer, receiver } from '../../fixture/https-receiver.js';
import { rowsRead } from '../../fixture/rows-read.js';
import { longTest } from '../../fixture/size.js';
import {
  type Connection,
  DeliveryHost,
  deliveries,
  insertConnection,
  insertSubscription,
  record,
} from './delivery-host.js';

const certificates = await authority();
const { ca } = certificates;
const onLoopback = await certificates.issue({ ip: '127.0.0.1' });
const TAKEN: Answer = (_request, response) => response.writeHead(204).end();

/** One subscription of one connection, a receiver that answers as told, and a host that owns all partitions. */
async function setUp(t: Test, db: Database, answer: Answer = TAKEN) {
  const connection = await insertConnection(db);
  const hook = await receiver(t, onLoopback, answer);
  const id = await insertSubscription(db, connection, hook.url);
  const host = await DeliveryHost.start(t, db, { ca });
  const subscription = { id, connection_id: connection.id, partition: connection.partition };
  const set = (onHold: boolean) => db.transaction((tx) => setHold(tx, subscription, onHold));
  return { db, connection, hook, id, host, subscription, set };
}

async function fetched(host: DeliveryHost, { partition }: Connection): Promise<number> {
  const count = await host.fetch(partition);
  await host.quiet();
  return count;
}

t.test('what becomes due on hold is kept, and goes in its order after the release', async (t) => {
  const { db, connection, hook, id, host, set } = await setUp(t, (await freshDatabase(t)).db);
  t.equal(await set(true), true);
  t.equal(await set(true), false, 'a repeat changes nothing');
  for (let i = 0; i < 20; i++) {
    await record(db, connection);
    await fetched(host, connection);
  }
  t.strictSame(hook.received, []);
  const held = await deliveries(db, id);
  t.equal(held.length, 20);
  for (const one of held) t.match(one, { status: 'pending', attempt_count: 0, series_attempts: 0, job: null });
  t.equal(await fetched(host, connection), 0, 'a held subscription is not fetched again and again');

  t.equal(await set(false), true);
  t.equal(await set(false), false);
  await fetched(host, connection);
  t.equal(hook.received.length, 20);
  for (const one of await deliveries(db, id)) t.match(one, { status: 'delivered', attempt_count: 1 });
  const order = await db.query<{ event_id: string }>(
    'testOrder',
    `select d.event_id from delivery d join delivery_attempt a on a.delivery_id = d.id where d.subscription_id = $1
     order by a.started_at, d.event_id`,
    [id],
  );
  t.equal(order.length, held.length);
  // So many are under way at once, and which of these a statement claims first is open.
  for (const [place, { event_id }] of order.entries()) {
    const due = held.findIndex((one) => one.event_id === event_id);
    t.ok(Math.abs(place - due) < LIMITS.subscription_attempts, `due as ${due}, begun as ${place}`);
  }
});

t.test('an attempt under way ends as it would, and its retry waits without using up the series', async (t) => {
  const { db, clock } = await clockedDatabase(t);
  const answers: (() => void)[] = [];
  let status = 500;
  const { connection, hook, id, host, set } = await setUp(t, db, (_request, response) => {
    if (status === 500) answers.push(() => response.writeHead(status).end());
    else response.writeHead(status).end();
  });
  await record(db, connection);
  await host.fetch(connection.partition);
  await eventually(
    'the attempt',
    () => answers.length,
    (n) => n === 1,
  );
  await set(true);
  answers[0]?.();
  await host.quiet();
  const failed = { status: 'pending', attempt_count: 1, series_attempts: 1, last_error: 'status_500' };
  t.match(await deliveries(db, id), [failed]);
  await clock.moveTo(new Date(clock.now().getTime() + 3_600_000));
  await fetched(host, connection);
  t.equal(hook.received.length, 1, 'the retry is due and not made');
  t.match(await deliveries(db, id), [failed]);
  status = 204;
  await set(false);
  await fetched(host, connection);
  t.match(await deliveries(db, id), [{ status: 'delivered', attempt_count: 2, series_attempts: 2 }]);
});

t.test('a release and the park of a job do not lose each other, whichever commits first', async (t) => {
  const { db, connection, hook, host, subscription, set } = await setUp(t, (await freshDatabase(t)).db);
  const { partition } = connection;
  const epoch = host.epoch(partition);
  const fetchJob = () => fetchSubscriptions(db, { id: partition, epoch }, 1, { workspaces: [], destinations: [] });
  const park = () => parkSubscriptions(db, [{ id: subscription.id, partition, epoch }]);
  await set(true);
  await record(db, connection);
  t.equal((await fetchJob()).length, 1);

  await t.rejects(
    db.transaction(async (tx) => {
      await setHold(tx, subscription, false);
      t.match(await park(), [{ examined: false }], 'the release has the job');
      throw new Error('rolled back');
    }),
    /rolled back/,
  );
  t.match(await park(), [{ examined: true, due_in_ms: null }], 'the hold goes on: the job is deleted');
  t.equal((await fetchJob()).length, 0);

  await record(db, connection);
  t.equal((await fetchJob()).length, 1);
  await db.transaction(async (tx) => {
    await setHold(tx, subscription, false);
    t.match(await park(), [{ examined: false }]);
  });
  t.equal(await fetched(host, connection), 1);
  t.equal(hook.received.length, 2);
});

longTest(t, 'holds and releases beside recorders and attempts lose and repeat nothing', async (t) => {
  const { db, connection, hook, id, host, set } = await setUp(t, (await freshDatabase(t)).db);
  let recording = true;
  const recorders = Promise.all(
    [1, 2, 3].map(async () => {
      for (let i = 0; i < 40; i++) await record(db, connection, 2);
    }),
  ).finally(() => {
    recording = false;
  });
  for (let onHold = true; recording; onHold = !onHold) {
    await set(onHold);
    await host.fetch(connection.partition);
  }
  await recorders;
  await set(false);
  const received = async () => {
    await fetched(host, connection);
    return hook.received.length;
  };
  await eventually('all callbacks', received, (n) => n >= 240);
  await host.quiet();
  const all = await deliveries(db, id);
  t.equal(all.length, 240);
  t.equal(all.filter(({ status, attempt_count }) => status === 'delivered' && attempt_count === 1).length, 240);
});

longTest(t, 'a lost thread on hold: what it was sending is pending again, and waits', async (t) => {
  const { db, connection, hook, id, host, set } = await setUp(t, (await freshDatabase(t)).db, () => {});
  await record(db, connection);
  await host.fetch(connection.partition);
  await eventually(
    'the attempt',
    () => hook.received.length,
    (n) => n === 1,
  );
  await set(true);
  host.dispatcher.drop(connection.partition);
  await host.retake(connection.partition);
  const next = await DeliveryHost.start(t, db, { ca });
  next.owned = host.owned;
  await fetched(next, connection);
  t.equal(hook.received.length, 1);
  t.match(await deliveries(db, id), [{ status: 'pending', series_attempts: 0, job: null }]);
});

t.test('the park of a held subscription reads none of its backlog', async (t) => {
  const { db, connection, id, host, subscription, set } = await setUp(t, (await freshDatabase(t)).db);
  const { partition } = connection;
  const epoch = host.epoch(partition);
  await set(true);
  for (let i = 0; i < 10; i++) await record(db, connection, 500);
  await db.query('testAnalyze', 'analyze delivery, subscription', []);
  const jobs = await fetchSubscriptions(db, { id: partition, epoch }, 1, { workspaces: [], destinations: [] });
  t.equal(jobs.length, 1);
  const { given, scanned, found } = await db.transaction((tx) =>
    rowsRead(tx, 'delivery', () => parkSubscriptions(tx, [{ id: subscription.id, partition, epoch }])),
  );
  t.match(given, [{ examined: true, due_in_ms: null }]);
  t.equal(scanned + found, 0);
  t.equal((await deliveries(db, id)).filter(({ status }) => status === 'pending').length, 5_000);
});
