import { setTimeout as delay } from 'node:timers/promises';
import t, { type Test } from 'tap';
import type { Database } from '../../../storage/postgres/database.js';
import { allOf } from '../../fixture/all-of.js';
import { authority } from '../../fixture/certificates.js';
import { freshDatabase } from '../../fixture/database.js';
import { eventually } from '../../fixture/eventually.js';
import { receiver } from '../../fixture/https-receiver.js';
import { JOBS, jobState } from '../../fixture/jobs.js';
import { longTest } from '../../fixture/size.js';
import { type DeliveryState, deliveries, insertConnection, insertSubscription, record } from './delivery-host.js';
import { DeliveryThread } from './delivery-thread.js';

const certificates = await authority();
const { ca } = certificates;
const onLoopback = await certificates.issue({ ip: '127.0.0.1' });

async function setUp(t: Test, through?: (db: Database) => Database) {
  const database = await freshDatabase(t);
  const connection = await insertConnection(database.db);
  const thread = await DeliveryThread.start(t, database, { ca, ...(through && { through }) });
  await thread.wake(connection.partition); // its connections to the database are open
  return { db: database.db, connection, thread };
}

/** Resolves with all deliveries once nothing is left to do. */
async function settled(db: Database): Promise<DeliveryState[]> {
  const left = () =>
    db.query<{ status: string; count: number }>(
      'testLeft',
      `select status, count(*)::int as count from delivery where status <> 'delivered' group by status
       union all select 'job', count(*)::int from ${JOBS} j where j.queue_name like 'delivery-%' having count(*) > 0`,
    );
  await eventually('everything is delivered and every job gone', left, (rows) => rows.length === 0);
  return deliveries(db);
}

longTest(t, 'jobs that were fetched by a statement whose answer was lost are delivered', async (t) => {
  const { db, connection, thread } = await setUp(t);
  const hook = await receiver(t, onLoopback);
  const subscription = await insertSubscription(db, connection, hook.url);
  await record(db, connection, 3);
  thread.link.deaf();
  void thread.wake(connection.partition);
  await eventually(
    'the job is fetched',
    () => jobState(db, subscription),
    (state) => state === 'active',
  );
  thread.link.pass();
  await settled(db);
  t.equal(hook.received.length, 3);
  t.match(thread.deliveries.stats().repairs, { job: 1, attempt: 0 });
});

longTest(t, 'a start that comes after it was taken back is found, and its delivery made', async (t) => {
  const late: (() => Promise<unknown>)[] = [];
  const { db, connection, thread } = await setUp(t, (one) => ({
    ...one,
    query: (name, text, values) => {
      if (name !== 'startDeliveries' || late.length > 0) return one.query(name, text, values);
      late.push(() => one.query(name, text, values));
      return Promise.reject(new Error('no answer came'));
    },
  }));
  const answers: (() => void)[] = [];
  let open = false;
  const hook = await receiver(t, onLoopback, (_request, response) => {
    if (open) response.writeHead(204).end();
    else answers.push(() => response.writeHead(204).end());
  });
  await insertSubscription(db, connection, hook.url);
  await record(db, connection, 5);
  void thread.wake(connection.partition);
  await hook.arrived(2);
  await late[0]?.();
  const before = await deliveries(db);
  t.ok(before.filter(({ status }) => status === 'sending').length > 2, 'more are sending than are being sent');
  open = true;
  for (const answer of answers) answer();
  const rows = await settled(db);
  t.equal(hook.received.length, 5, 'each was sent once');
  const abandoned = rows.filter(({ attempts }) => attempts[0]?.outcome === 'abandoned');
  t.ok(abandoned.length > 0);
  t.ok(abandoned.every(({ attempts, series_attempts }) => attempts.length === 2 && series_attempts === 1));
  t.match(thread.deliveries.stats().repairs, { attempt: abandoned.length });
});

t.test('an end whose answer was lost is written once, and the job goes', async (t) => {
  const { db, connection, thread } = await setUp(t);
  const answers: (() => void)[] = [];
  const hook = await receiver(t, onLoopback, (_request, response) => answers.push(() => response.writeHead(204).end()));
  await insertSubscription(db, connection, hook.url);
  await record(db, connection, 2);
  void thread.wake(connection.partition);
  await hook.arrived(2);
  thread.link.deaf();
  for (const answer of answers) answer();
  await eventually(
    'the ends are written',
    () => deliveries(db),
    (rows) => rows.some(({ status }) => status === 'delivered'),
  );
  thread.link.pass();
  const rows = await settled(db);
  t.equal(hook.received.length, 2);
  t.ok(allOf(rows, ({ attempts }) => attempts.length === 1));
});

t.test('whatever answers are lost, everything recorded is delivered and nothing is left', async (t) => {
  const { db, connection, thread } = await setUp(t);
  const hook = await receiver(t, onLoopback);
  for (let i = 0; i < 20; i++) await insertSubscription(db, connection, hook.url);
  for (let round = 0; round < 25; round++) {
    await record(db, connection, 2);
    void thread.wake(connection.partition);
    await delay(round % 7);
    if (round % 2 === 0) thread.link.deaf();
    else thread.link.stall('down');
    await delay(10 + (round % 5) * 10);
    thread.link.cut();
    thread.link.pass();
  }
  const rows = await settled(db);
  t.equal(rows.length, 20 * 50);
  t.equal(new Set(hook.received.map(({ headers }) => headers['x-cs-delivery-id'])).size, rows.length);
  t.comment(`${hook.received.length} requests for ${rows.length} deliveries`, thread.deliveries.stats().repairs);
});

t.test('a partition that its thread takes again goes on, and nothing is sent twice', async (t) => {
  const { db, connection, thread } = await setUp(t);
  const hook = await receiver(t, onLoopback, (_request, response) =>
    setTimeout(() => response.writeHead(204).end(), 5),
  );
  for (let i = 0; i < 10; i++) await insertSubscription(db, connection, hook.url);
  for (let round = 0; round < 40; round++) {
    await record(db, connection, 2);
    void thread.wake(connection.partition);
    await thread.renew(connection.partition);
  }
  const rows = await settled(db);
  t.equal(rows.length, 10 * 80);
  t.equal(hook.received.length, rows.length);
  t.ok(rows.every(({ attempts }) => attempts.length === 1));
  t.match(thread.deliveries.stats().repairs, { job: 0, attempt: 0 }, 'and nothing had to be put right');
});
