import t, { type Test } from 'tap';
import { DeliveryBatches } from '../../../actors/deliveries/delivery-batches.js';
import type { SendPermission } from '../../../actors/lease.js';
import { createLogger } from '../../../storage/log/log.js';
import type { Database } from '../../../storage/postgres/database.js';
import { freshDatabase } from '../../fixture/database.js';
import { deliveries, insertConnection, insertSubscription, NEVER_RUNS_OUT, record } from './delivery-host.js';

const EPOCH = 7;
const log = createLogger({ level: 'silent', format: 'json' }, {});

/** One subscription, and the starts of a thread; `pages` are those of tables and indexes that each statement has looked at. */
async function fixture(t: Test) {
  const { db } = await freshDatabase(t);
  const connection = await insertConnection(db);
  const { partition } = connection;
  await db.query('testEpoch', 'update partition set epoch = $2 where id = $1', [partition, EPOCH]);
  const id = await insertSubscription(db, connection, 'https://receiver.test/');
  const subscription = { id, partition, epoch: EPOCH };
  const pages: number[] = [];
  const counting: Database = {
    ...db,
    query: async (name, text, values) => {
      if (name !== 'startDeliveries') return db.query(name, text, values);
      return db
        .transaction(async (tx) => {
          const before = await pagesRead(tx);
          const rows = await tx.query(name, text, values);
          pages.push((await pagesRead(tx)) - before);
          return rows as never;
        })
        .then(async (rows) => {
          await own.beforeAnswer();
          return rows;
        });
    },
  };
  /** What is given of the partition's lease, and what is to happen before the answer to a start. */
  const own = { lease: { ...NEVER_RUNS_OUT } as SendPermission | undefined, beforeAnswer: async () => {} };
  const lease = { permission: () => own.lease };
  const batches = new DeliveryBatches({ db, relaxed: counting, lease, log, bound: 1_000 });
  t.teardown(() => batches.close());
  const claim = async (count: number) => {
    const started = await Promise.all(Array.from({ length: count }, () => batches.start(subscription)));
    return started.flatMap((one) => one ?? []);
  };
  return { db, connection, subscription, pages, claim, own, batches };
}

/** Pages of the deliveries' index by due time that this transaction has looked at, among those of the moment before. */
async function pagesRead(tx: Pick<Database, 'query'>): Promise<number> {
  const [row] = await tx.query<{ pages: number }>(
    'testPages',
    `select pg_stat_get_xact_blocks_fetched('delivery_due'::regclass)::integer as pages`,
  );
  return row?.pages ?? 0;
}

t.test('a claim of a long backlog costs what it brings, however much of it is done', async (t) => {
  const { db, connection, pages, claim } = await fixture(t);
  for (let n = 0; n < 40; n++) await record(db, connection, 250);
  const found: string[] = [];
  for (let claimed = await claim(100); claimed.length > 0; claimed = await claim(100))
    found.push(...claimed.map(({ event_id }) => event_id));
  t.equal(found.length, 10_000);
  t.strictSame(found, found.toSorted(), 'in the order in which they became due');
  // One now and then begins with what has been due the longest.
  const median = (some: number[]) => some.toSorted((a, b) => a - b)[some.length >> 1] ?? 0;
  const [early, late] = [median(pages.slice(0, 20)), median(pages.slice(-20))];
  t.comment(`${early} pages at first, ${late} at the end`);
  t.ok(early > 0);
  t.ok(late <= 2 * early, `${early} pages, then ${late}`);
});

t.test('what becomes due before the place where claims stand is found', async (t) => {
  const { db, connection, claim } = await fixture(t);
  await record(db, connection, 10);
  t.equal((await claim(4)).length, 4);
  await record(db, connection, 1);
  const [late] = await db.query<{ id: string }>(
    'testLate',
    `update delivery set next_attempt_at = now() - interval '1 hour'
     where event_id = (select id from event order by id desc limit 1) returning id`,
  );
  t.ok(late);
  t.equal((await claim(6)).length, 6);
  t.match(await claim(3), [{ id: late?.id }], 'at the latest when nothing is left behind it');
  t.strictSame(await claim(3), []);
});

t.test('a subscription whose statements fail holds up no other', async (t) => {
  const { db, connection, subscription, batches } = await fixture(t);
  const bad = { ...subscription, id: await insertSubscription(db, connection, 'https://bad.test/') };
  await record(db, connection, 2);
  await db.query(
    'testFails',
    `create function fails() returns trigger language plpgsql as $$ begin
       raise exception 'canceling statement due to statement timeout' using errcode = 'query_canceled'; end $$`,
  );
  await db.query(
    'testTrap',
    `create trigger trap before update on delivery for each row when (old.subscription_id = '${bad.id}') execute function fails()`,
  );
  const stuck = batches.start(bad);
  const started = await Promise.all([batches.start(subscription), batches.start(subscription)]);
  t.match(started, [{ subscription_id: subscription.id }, { subscription_id: subscription.id }]);
  await db.query('testFree', 'drop trigger trap on delivery');
  t.match(await stuck, { subscription_id: bad.id, attempt_count: 1 });
  t.equal(batches.inHand.size, 3, 'what failed left no attempt in hand');
});

t.test('nothing is started without a lease', async (t) => {
  const { db, connection, claim, own } = await fixture(t);
  await record(db, connection);
  own.lease = undefined;
  t.strictSame(await claim(1), []);
  t.match(await deliveries(db), [{ status: 'pending', attempt_count: 0 }]);
});

t.test(
  'a start is taken back whose lease ran out before its answer came, also where there is another since',
  async (t) => {
    const { db, connection, claim, own, batches } = await fixture(t);
    await record(db, connection);
    own.beforeAnswer = async () => {
      t.match(await deliveries(db), [{ status: 'sending' }]);
      Object.assign(own.lease ?? {}, { until_ms: 0 });
      own.lease = undefined;
    };
    t.strictSame(await claim(1), []);
    t.match(await deliveries(db), [{ status: 'pending', attempt_count: 0, attempts: [], job: 'created' }]);
    t.equal(batches.inHand.size, 0);
    own.lease = { ...NEVER_RUNS_OUT };
    own.beforeAnswer = async () => {
      Object.assign(own.lease ?? {}, { until_ms: 0 });
      own.lease = { ...NEVER_RUNS_OUT };
    };
    t.equal((await claim(1)).length, 1, 'its row was asked again, under the lease of then');
    t.match(await deliveries(db), [{ status: 'sending', attempt_count: 1 }]);
    t.equal(batches.inHand.size, 1);
  },
);
