import { randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import { startDeliveries } from '../../../storage/deliveries/deliveries.js';
import { fetchSubscriptions, parkSubscriptions } from '../../../storage/deliveries/delivery-queue.js';
import { fetchedJobs, openAttempts, putBackStrays, recoverStrays } from '../../../storage/deliveries/strays.js';
import {
  type Connection,
  deliveries,
  insertConnection,
  insertSubscription,
  record,
} from '../../actors/deliveries/delivery-host.js';
import { freshDatabase } from '../../fixture/database.js';

const EPOCH = 7;

/** Three subscriptions of one partition, each with a delivery that is due. */
async function setUp(t: Test) {
  const { db } = await freshDatabase(t);
  const connection = await insertConnection(db);
  await db.query('testEpoch', 'update partition set epoch = $2 where id = $1', [connection.partition, EPOCH]);
  for (let i = 0; i < 3; i++) await insertSubscription(db, connection, 'https://receiver.test/');
  await record(db, connection);
  return { db, connection };
}

const heldUnder = ({ partition }: Connection, epoch: number) => ({ id: partition, epoch });

t.test('a fetch takes what is due, of no workspace that is full, and nothing under another epoch', async (t) => {
  const { db, connection } = await setUp(t);
  const fetch = (epoch: number, limit: number, workspaces: string[]) =>
    fetchSubscriptions(db, heldUnder(connection, epoch), limit, { workspaces, destinations: [] });
  t.strictSame(await fetch(EPOCH - 1, 10, []), []);
  t.strictSame(await fetch(EPOCH, 10, [connection.workspaceId]), []);
  const fetched = await fetch(EPOCH, 2, [randomUUID()]);
  t.match(fetched, [{ workspace_id: connection.workspaceId }, { workspace_id: connection.workspaceId }]);
  t.equal((await fetch(EPOCH, 2, [])).length, 1, 'the rest');
  t.strictSame(await fetch(EPOCH, 2, []), [], 'each once');
});

t.test('a parked job waits for the next delivery, and goes when its subscription is inactive', async (t) => {
  const { db, connection } = await setUp(t);
  const fetched = await fetchSubscriptions(db, heldUnder(connection, EPOCH), 10, { workspaces: [], destinations: [] });
  const owned = fetched.map(({ id }) => ({ id, partition: connection.partition, epoch: EPOCH }));
  const [inactive] = fetched;
  await db.query('testInactive', 'update subscription set active = false where id = $1', [inactive?.id]);
  const parked = await parkSubscriptions(db, owned);
  t.equal(parked.length, 3);
  for (const { id, due_in_ms } of parked) {
    if (id === inactive?.id) t.equal(due_in_ms, null);
    else t.ok(due_in_ms !== null && due_in_ms <= 0, 'it is due already');
  }
  const jobs = (await deliveries(db)).map(({ subscription_id, job }) => [subscription_id === inactive?.id, job]);
  t.strictSame(jobs.sort(), [
    [false, 'created'],
    [false, 'created'],
    [true, null],
  ]);
});

t.test('a fetched job is put back once, and not under another epoch, nor when it changed since', async (t) => {
  const { db, connection } = await setUp(t);
  const held = heldUnder(connection, EPOCH);
  const queue = { partition: connection.partition, epoch: EPOCH, after: undefined };
  t.strictSame((await fetchedJobs(db, [queue], 10)).jobs, [], 'none is fetched');
  await fetchSubscriptions(db, held, 10, { workspaces: [], destinations: [] });
  const pages = [];
  for (let after: string | undefined, last: string | null = ''; last !== null; after = last ?? undefined) {
    const page = await fetchedJobs(db, [{ ...queue, after }], 2);
    last = page.cursors[0]?.last ?? null;
    pages.push(page.jobs);
  }
  t.strictSame(
    pages.map(({ length }) => length),
    [2, 1],
    'by pages',
  );
  const jobs = pages.flat();
  t.strictSame(await putBackStrays(db, [heldUnder(connection, EPOCH + 1)], jobs), []);
  t.equal((await putBackStrays(db, [held], jobs)).length, 3);
  t.strictSame(await putBackStrays(db, [held], jobs), []);
  t.equal((await fetchSubscriptions(db, held, 10, { workspaces: [], destinations: [] })).length, 3, 'they are due');
  t.strictSame(await putBackStrays(db, [held], jobs), [], 'fetched anew, they are what was seen no more');
});

t.test('an attempt that nobody makes is abandoned and its delivery due', async (t) => {
  const { db, connection } = await setUp(t);
  const held = heldUnder(connection, EPOCH);
  const fetched = await fetchSubscriptions(db, held, 10, { workspaces: [], destinations: [] });
  const started = await startDeliveries(
    db,
    fetched.map(({ id }) => ({
      subscription: { id, partition: connection.partition, epoch: EPOCH },
      attemptIds: [randomUUID()],
      from_us: null,
    })),
  );
  const inHand = started.slice(1).map(({ attempt_id }) => attempt_id);
  const open = await openAttempts(db, [connection.partition], inHand, 10);
  t.match(open, [{ delivery_id: started[0]?.id, attempt_id: started[0]?.attempt_id }]);
  t.strictSame(await recoverStrays(db, [heldUnder(connection, EPOCH - 1)], open), [], 'not under another epoch');
  const other = open.map((one) => ({ ...one, attempt_id: randomUUID() }));
  t.strictSame(await recoverStrays(db, [held], other), [], 'not another attempt');
  t.strictSame(await recoverStrays(db, [held], open), [started[0]?.id]);
  const rows = await deliveries(db);
  t.match(
    rows.find(({ id }) => id === started[0]?.id),
    { status: 'pending', job: 'created', series_attempts: 0, attempts: [{ outcome: 'abandoned', closed: true }] },
  );
  t.equal(rows.filter(({ status }) => status === 'sending').length, 2);
  t.strictSame(await recoverStrays(db, [held], open), []);
});
