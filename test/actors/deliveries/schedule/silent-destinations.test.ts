import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import t, { type Test } from 'tap';
import { v7 as uuidv7 } from 'uuid';
import { LIMITS } from '../../../../actors/deliveries/limits.js';
import { PauseNotes } from '../../../../actors/deliveries/schedule/pause-notes.js';
import { listSubscriptions } from '../../../../storage/deliveries/subscriptions.js';
import { createLogger } from '../../../../storage/log/log.js';
import type { Database } from '../../../../storage/postgres/database.js';
import { LIST_START } from '../../../../storage/postgres/list-place.js';
import { authority } from '../../../fixture/certificates.js';
import { freshDatabase } from '../../../fixture/database.js';
import { clockedDatabase } from '../../../fixture/database-clock.js';
import { eventually } from '../../../fixture/eventually.js';
import { receiver } from '../../../fixture/https-receiver.js';
import { longTest } from '../../../fixture/size.js';
import {
  type Connection,
  DeliveryHost,
  deliveries,
  destinationOf,
  insertConnection,
  insertSubscription,
  record,
  ring,
  SECRET,
} from '../delivery-host.js';
import { DeliveryThread } from '../delivery-thread.js';

const certificates = await authority();
const { ca } = certificates;
const onLoopback = await certificates.issue({ ip: '127.0.0.1' });

const SUBSCRIPTIONS = 332;

/** As `insertSubscription`, in one statement. */
async function insertSubscriptions(db: Database, connection: Connection, url: string, count: number): Promise<void> {
  const ids = Array.from({ length: count }, () => uuidv7());
  await db.query(
    'testSubscriptions',
    `insert into subscription (id, workspace_id, connection_id, partition, event_types, callback_url, active, secret_sealed, destination)
     select i.id, $3, $4, $5, '{message_received}', $6, true, i.secret, $7 from unnest($1::uuid[], $2::bytea[]) i(id, secret)`,
    [
      ids,
      ids.map((id) => ring.seal(SECRET, `subscription/${id}/secret`)),
      connection.workspaceId,
      connection.id,
      connection.partition,
      url,
      destinationOf(connection, url),
    ],
  );
}

longTest(
  t,
  '332 subscriptions to a receiver that stays silent delay no other destination, of any workspace',
  async (t) => {
    const database = await freshDatabase(t);
    const { db } = database;
    const crowded = await insertConnection(db);
    const others: { whose: string; connection: Connection }[] = [
      { whose: 'the same connection', connection: crowded },
      { whose: 'another workspace', connection: await insertConnection(db) },
    ];
    const held: ServerResponse[] = [];
    let over = false;
    const silent = await receiver(t, onLoopback, (_request, response) => {
      if (over) response.writeHead(500).end();
      else held.push(response);
    });
    await insertSubscriptions(db, crowded, silent.url, SUBSCRIPTIONS);
    const thread = await DeliveryThread.start(t, database, { ca, concurrency: 32, workspacePercent: 75 });
    await record(db, crowded);
    void thread.wake(crowded.partition);
    await eventually(
      'the silent ones have all the slots they may have',
      () => silent.received.length,
      (count) => count >= 4,
    );
    await db.query('testQuiet', `update subscription set event_types = '{message_sent}'`);
    for (const { whose, connection } of others) {
      const prompt = await receiver(t, onLoopback);
      await insertSubscription(db, connection, prompt.url);
      for (let i = 1; i <= 5; i++) {
        await record(db, connection);
        void thread.wake(connection.partition);
        await prompt.arrived(i);
      }
      t.equal(held.filter(({ closed }) => closed).length, 0, `${whose}: while none of the silent attempts has ended`);
    }
    over = true;
    for (const response of held) response.writeHead(500).end();
  },
);

/** A port on which nothing listens. */
async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** Fetches what is due, again and again until the test ends. */
function fetching(t: Test, host: DeliveryHost, partition: number): void {
  const timer = setInterval(() => void host.fetch(partition).catch(() => {}), 50);
  t.teardown(() => clearInterval(timer));
}

const pausesOf = async (db: Database, { id }: Connection) =>
  new Set((await listSubscriptions(db, id, LIST_START, 1_000)).map(({ paused_reason }) => paused_reason));

t.test(
  'a dead destination is paused for all its subscriptions, tried now and then, and goes on with its first answer',
  async (t) => {
    const { db } = await freshDatabase(t);
    const connection = await insertConnection(db);
    const count = 3 * LIMITS.new_destination_attempts;
    let up = false;
    const hook = await receiver(t, onLoopback, (_request, response) => void (up && response.writeHead(503).end()));
    await insertSubscriptions(db, connection, hook.url, count);
    const host = await DeliveryHost.start(t, db, { ca, concurrency: 64, deadline_ms: 1_500, try_ms: 300 });
    await record(db, connection);
    fetching(t, host, connection.partition);
    await eventually(
      'the destination is paused',
      () => host.dispatcher.stats(),
      (stats) => stats.paused_destinations === 1,
    );
    const attempts = hook.received.length;
    t.ok(attempts < 2 * LIMITS.new_destination_attempts, `${attempts} attempts until it is paused`);
    await eventually(
      'its owner is told',
      () => pausesOf(db, connection),
      (reasons) => reasons.size === 1 && reasons.has('timeout'),
    );
    const [noted] = await listSubscriptions(db, connection.id, LIST_START, 1_000);
    await eventually(
      'those under way have ended',
      () => host.dispatcher.stats(),
      ({ in_flight }) => in_flight <= 1,
    );
    await hook.arrived(hook.received.length + 3);
    t.equal(host.dispatcher.stats().in_flight, 1, 'one at a time');
    const rows = await deliveries(db);
    t.equal(rows.length, count, 'none is lost');
    t.equal(
      rows.reduce((sum, { attempt_count }) => sum + attempt_count, 0),
      hook.received.length,
      'and no attempt is invented',
    );
    t.ok(rows.every(({ status }) => status === 'pending' || status === 'sending'));
    const [later] = await listSubscriptions(db, connection.id, LIST_START, 1_000);
    t.strictSame(later?.paused_since, noted?.paused_since, 'since it was paused first');
    up = true;
    await eventually(
      'every delivery is tried after the first answer, a failure though it is',
      async () => {
        // Some have waits of half a minute before them.
        const waits = `status = 'pending' and last_error is distinct from 'status_503'`;
        await db.query('testDue', `update delivery set next_attempt_at = now() where ${waits}`);
        await db.query('testJobs', `update pgboss.job_common set start_after = now() where state = 'created'`);
        return deliveries(db);
      },
      (all) => all.every(({ last_error }) => last_error === 'status_503'),
    );
    await eventually(
      'its owner is told',
      () => pausesOf(db, connection),
      (reasons) => reasons.size === 1 && reasons.has(null),
    );
    t.equal(host.dispatcher.stats().paused_destinations, 0);
  },
);

t.test('a path that answers is served beside many dead ones of its host', async (t) => {
  const { db } = await freshDatabase(t);
  const connection = await insertConnection(db);
  const hook = await receiver(
    t,
    onLoopback,
    ({ path }, response) => void (path === '/alive' && response.writeHead(204).end()),
  );
  const arrived = () => hook.received.filter(({ path }) => path === '/alive').length;
  // Long enough for the path that answers, on any machine: one answer that came too late would count it among the dead.
  const host = await DeliveryHost.start(t, db, { ca, concurrency: 64, deadline_ms: 4_000 });
  await insertSubscription(db, connection, hook.url.replace('/hook', '/alive'));
  await record(db, connection);
  await host.fetch(connection.partition);
  await eventually('the one alone is served', arrived, (count) => count === 1);
  await insertSubscriptions(db, connection, hook.url, 100);
  await record(db, connection);
  fetching(t, host, connection.partition);
  await eventually(
    'the destination is paused',
    () => host.dispatcher.stats(),
    ({ paused_destinations }) => paused_destinations === 1,
  );
  t.equal(arrived(), 2, 'beside them');
  await record(db, connection);
  await eventually('it is served while the destination is paused', arrived, (count) => count === 3);
});

t.test('a pause that was noted holds for who owns the subscriptions next, until the first answer', async (t) => {
  const { db } = await freshDatabase(t);
  const connection = await insertConnection(db);
  const answers: (() => void)[] = [];
  let up = false;
  const hook = await receiver(t, onLoopback, (_request, response) => {
    const answer = () => response.writeHead(204).end();
    if (up) answer();
    else answers.push(answer);
  });
  await insertSubscriptions(db, connection, hook.url, 20);
  await db.query('testPause', `insert into callback_pause (destination, reason) values ($1, 'timeout')`, [
    destinationOf(connection, hook.url),
  ]);
  const host = await DeliveryHost.start(t, db, { ca });
  await record(db, connection);
  await host.fetch(connection.partition);
  await hook.arrived(1);
  t.match(host.dispatcher.stats(), { in_flight: 1, paused_destinations: 1, subscriptions: 20 }, 'one try');
  up = true;
  for (const answer of answers) answer();
  await eventually(
    'all are delivered',
    () => deliveries(db),
    (all) => all.every(({ status }) => status === 'delivered'),
  );
  await eventually(
    'nothing is noted any more',
    () => pausesOf(db, connection),
    (reasons) => reasons.has(null),
  );
});

t.test('of a destination with few subscriptions every attempt is made in its time', async (t) => {
  const { db, clock } = await clockedDatabase(t);
  const connection = await insertConnection(db);
  const subscriptions = LIMITS.pause_subscriptions - 1;
  const port = await closedPort();
  await insertSubscriptions(db, connection, `https://127.0.0.1:${port}/hook`, subscriptions);
  const host = await DeliveryHost.start(t, db, { ca });
  await record(db, connection);
  for (const [i, wait_s] of [0, 1, 5, 30, 120].entries()) {
    await clock.moveTo(new Date(clock.now().getTime() + wait_s * 1_000));
    await host.fetch(connection.partition);
    await eventually(
      `attempt ${i + 1} of each has failed`,
      () => deliveries(db),
      (all) => all.every(({ attempts }) => attempts.filter(({ error }) => error === 'refused').length === i + 1),
    );
    await host.quiet();
  }
  t.ok((await deliveries(db)).every(({ status }) => status === 'failed'));
  t.equal(host.dispatcher.stats().paused_destinations, 0);
});

t.test('a note that could not be written is written again, and the last word stands', async (t) => {
  const { db } = await freshDatabase(t);
  let failures = 2;
  const flaky: Database = {
    ...db,
    query: async (name, text, values) => {
      const rows = await db.query(name, text, values);
      if (failures-- > 0) throw new Error('the answer was lost');
      return rows as never;
    },
  };
  const notes = new PauseNotes(flaky, createLogger({ level: 'silent', format: 'json' }, {}));
  const [one, other] = ['aa', 'bb'];
  notes.paused(one, 'timeout');
  notes.paused(other, 'dns');
  notes.answered(one);
  const noted = () =>
    db.query<{ destination: string }>(
      'testNotes',
      `select encode(destination, 'hex') as destination from callback_pause`,
    );
  await eventually(
    'only the other one is noted',
    noted,
    (rows) => failures < 0 && rows.length === 1 && rows[0]?.destination === other,
  );
  await notes.close();
  t.strictSame(await noted(), [{ destination: other }]);
});
