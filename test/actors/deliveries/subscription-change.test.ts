import { randomUUID } from 'node:crypto';
import t from 'tap';
import {
  changeSubscription,
  deleteSubscription,
  dropDeleted,
} from '../../../storage/deliveries/subscription-change.js';
import { findSubscriptions } from '../../../storage/deliveries/subscriptions.js';
import { LIMITS } from '../../../storage/limits.js';
import type { Database } from '../../../storage/postgres/database.js';
import { authority } from '../../fixture/certificates.js';
import { freshDatabase } from '../../fixture/database.js';
import { eventually } from '../../fixture/eventually.js';
import { type Answer, receiver } from '../../fixture/https-receiver.js';
import { insertDeliveries } from '../../server/rows.js';
import {
  type Connection,
  DeliveryHost,
  deliveries,
  destinationOf,
  insertConnection,
  insertSubscription,
  record,
} from './delivery-host.js';

const certificates = await authority();
const { ca } = certificates;
const onLoopback = await certificates.issue({ ip: '127.0.0.1' });
const TAKEN: Answer = (_request, response) => response.writeHead(204).end();

async function move(db: Database, connection: Connection, id: string, callbackUrl: string): Promise<string> {
  const [row] = await findSubscriptions(db, [id]);
  const destination = destinationOf(connection, callbackUrl);
  const proof = { given: false, wanted: false };
  const change = { eventTypes: row!.event_types, callbackUrl, destination, proof, ofDestination: 100 };
  return db.transaction((tx) => changeSubscription(tx, row!, change));
}

t.test('what waits for a dead address goes to the new one', async (t) => {
  const { db } = await freshDatabase(t);
  const connection = await insertConnection(db);
  const hook = await receiver(t, onLoopback, TAKEN);
  const id = await insertSubscription(db, connection, 'https://127.0.0.1:1/dead');
  const host = await DeliveryHost.start(t, db, { ca });
  await record(db, connection, 3);
  await host.fetch(connection.partition);
  await eventually(
    'an attempt at the dead address',
    () => deliveries(db, id),
    (all) => all.some((one) => one.last_error !== null),
  );
  await db.query('testDue', `update delivery set next_attempt_at = now() where status = 'pending'`);
  t.equal(await move(db, connection, id, hook.url), 'moved');
  await host.fetch(connection.partition);
  await eventually(
    'what was tried before is due again',
    async () => {
      await db.query('testDue', `update delivery set next_attempt_at = now() where status = 'pending'`);
      await db.query('testJob', `update pgboss.job_common set start_after = now() where id = $1`, [id]);
      await host.fetch(connection.partition);
      return deliveries(db, id);
    },
    (all) => all.every(({ status }) => status === 'delivered'),
  );
  t.equal(hook.received.length, 3);
});

t.test('an attempt under way at the address before ends there, and is written once', async (t) => {
  const { db } = await freshDatabase(t);
  const connection = await insertConnection(db);
  const answers: (() => void)[] = [];
  const former = await receiver(t, onLoopback, (_request, response) =>
    answers.push(() => response.writeHead(204).end()),
  );
  const next = await receiver(t, onLoopback, TAKEN);
  const id = await insertSubscription(db, connection, former.url);
  const host = await DeliveryHost.start(t, db, { ca });
  await record(db, connection);
  await host.fetch(connection.partition);
  await eventually(
    'the attempt',
    () => answers.length,
    (n) => n === 1,
  );
  await move(db, connection, id, next.url);
  await record(db, connection);
  await host.fetch(connection.partition);
  await eventually(
    'the second event at the new address',
    () => next.received.length,
    (n) => n === 1,
  );
  t.match(await deliveries(db, id), [{ status: 'sending' }, { status: /delivered|sending/ }]);
  answers[0]?.();
  const ended = await eventually(
    'the ends',
    () => deliveries(db, id),
    (all) => all.every(({ status }) => status === 'delivered'),
  );
  for (const one of ended) t.match(one, { attempt_count: 1, attempts: [{ outcome: 'delivered' }] });
  t.equal(former.received.length, 1);
});

t.test('an attempt at the address before that fails is tried again at the new one', async (t) => {
  const { db } = await freshDatabase(t);
  const connection = await insertConnection(db);
  const answers: (() => void)[] = [];
  const former = await receiver(t, onLoopback, (_request, response) =>
    answers.push(() => response.writeHead(500).end()),
  );
  const next = await receiver(t, onLoopback, TAKEN);
  const id = await insertSubscription(db, connection, former.url);
  const states: string[] = [];
  const host = await DeliveryHost.start(t, db, { ca, onState: (_id, { kind }) => states.push(kind) });
  await record(db, connection);
  await host.fetch(connection.partition);
  await eventually(
    'the attempt',
    () => answers.length,
    (n) => n === 1,
  );
  await move(db, connection, id, next.url);
  await record(db, connection);
  await host.fetch(connection.partition);
  await eventually(
    'the one of the new address has nothing to do',
    () => deliveries(db, id),
    (all) => all[1]?.status === 'delivered' && /idle|gone/.test(states.at(-1) ?? ''),
  );
  t.ok(host.dispatcher.holdsJob(id), 'until the attempt at the address before is over');
  answers[0]?.();
  const [failed] = await eventually(
    'its job waits for the next attempt',
    () => deliveries(db, id),
    ([one]) => one?.job === 'created',
  );
  t.match(failed, { status: 'pending', attempt_count: 1, job_due: failed?.next_attempt_at });
  await db.query('testDue', 'update delivery set next_attempt_at = now() where id = $1', [failed?.id]);
  await db.query('testJob', 'update pgboss.job_common set start_after = now() where id = $1', [id]);
  await host.fetch(connection.partition);
  await eventually(
    'it is tried at the new address',
    () => deliveries(db, id),
    (all) => all.every(({ status }) => status === 'delivered'),
  );
  t.equal(former.received.length, 1);
  t.equal(next.received.length, 2);
});

t.test(
  'a deleted subscription sends nothing more, and its rows go in slices, whoever holds some of them',
  async (t) => {
    const { db } = await freshDatabase(t);
    const connection = await insertConnection(db);
    const hook = await receiver(t, onLoopback, TAKEN);
    const id = await insertSubscription(db, connection, hook.url);
    const other = await insertSubscription(db, connection, hook.url);
    await insertDeliveries(
      db,
      id,
      Array.from({ length: LIMITS.removal_rows + 500 }, () => 'delivered'),
    );
    const host = await DeliveryHost.start(t, db, { ca });
    await record(db, connection);
    const [row] = await findSubscriptions(db, [id]);
    t.equal(await db.transaction((tx) => deleteSubscription(tx, row!)), true);
    t.strictSame(await findSubscriptions(db, [id]), []);
    t.equal(await db.transaction((tx) => deleteSubscription(tx, row!)), false);
    await record(db, connection);
    await host.fetch(connection.partition);
    await host.quiet();
    t.equal(hook.received.length, 2, 'the other one got both');
    for (let slices = 0, last: string | null = id; last !== null; slices++) {
      t.ok(slices < 5);
      ({ last } = await db.transaction((tx) => dropDeleted(tx, id)));
    }
    const [left] = await db.query<{ subscriptions: number; deliveries: number; counted: number }>(
      'testLeft',
      `select (select count(*) from subscription) as subscriptions, (select count(*) from delivery) as deliveries,
       (select subscriptions from subscription_count) as counted`,
    );
    t.strictSame(left, { subscriptions: 1, deliveries: 2, counted: 1 });
    t.match(await deliveries(db, other), [{ status: 'delivered' }, { status: 'delivered' }]);
    t.strictSame(await db.transaction((tx) => dropDeleted(tx, randomUUID())), { last: null });
  },
);
