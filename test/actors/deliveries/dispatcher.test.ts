import { createHmac, timingSafeEqual } from 'node:crypto';
import { mock } from 'node:test';
import { pino } from 'pino';
import { Webhook } from 'standardwebhooks';
import t, { type Test } from 'tap';
import { rotateSecret } from '../../../storage/deliveries/signing-secrets.js';
import { keyRing } from '../../../storage/secrets/encryption.js';
import { allOf } from '../../fixture/all-of.js';
import { authority } from '../../fixture/certificates.js';
import { freshDatabase } from '../../fixture/database.js';
import { clockedDatabase } from '../../fixture/database-clock.js';
import { eventually } from '../../fixture/eventually.js';
import { type Received, receiver } from '../../fixture/https-receiver.js';
import { jobIds, lockJob } from '../../fixture/jobs.js';
import { longTest } from '../../fixture/size.js';
import {
  DeliveryHost,
  deliveries,
  insertConnection,
  insertSubscription,
  record,
  ring,
  SECRET,
} from './delivery-host.js';

const certificates = await authority();
const { ca } = certificates;
const onLoopback = await certificates.issue({ ip: '127.0.0.1' });

async function setUp(t: Test) {
  const { db } = await freshDatabase(t);
  return { db, connection: await insertConnection(db) };
}

/** The same with a clock that the test moves. */
async function setUpClock(t: Test) {
  const { db, clock } = await clockedDatabase(t);
  return { db, clock, connection: await insertConnection(db) };
}

/** As a receiver checks it, from the contract alone. */
function verified({ headers, body }: Received, secret: string): boolean {
  const expected = createHmac('sha256', Buffer.from(secret, 'utf8'))
    .update(Buffer.concat([Buffer.from(`${headers['x-cs-timestamp']}.`, 'ascii'), body]))
    .digest();
  return (headers['x-cs-signature'] ?? '').split(',').some((entry) => {
    const [version, hex = ''] = entry.split('=');
    const given = Buffer.from(hex, 'hex');
    return version === 'v1' && given.length === expected.length && timingSafeEqual(given, expected);
  });
}

const signaturesOf = (received: Received[]): string[] =>
  received.map(({ headers }) => headers['x-cs-signature']?.replace('v1=', '') ?? 'none');

t.test('an event arrives signed, once, with the body of the contract', async (t) => {
  const { db, connection } = await setUp(t);
  const hook = await receiver(t, onLoopback);
  const subscription = await insertSubscription(db, connection, hook.url);
  const host = await DeliveryHost.start(t, db, { ca });
  await record(db, connection, 1, { text: 'grüße', big: 12345678901234 });
  await host.fetch(connection.partition);
  const [delivery] = await eventually(
    'the delivery is delivered and its job gone',
    () => deliveries(db),
    ([only]) => only?.status === 'delivered' && only.job === null,
  );
  t.equal(hook.received.length, 1);
  const request = hook.received[0]!;
  t.ok(verified(request, SECRET));
  t.notOk(verified(request, 'another secret of thirty-two characters'));
  const verifier = new Webhook(`whsec_${Buffer.from(SECRET).toString('base64')}`);
  t.ok(verifier.verify(request.body, request.headers));
  const body = JSON.parse(request.body.toString());
  t.strictSame(Object.keys(body), ['id', 'type', 'connection_id', 'provider_event_id', 'received_at', 'data']);
  t.match(body, { type: 'message_received', connection_id: connection.id });
  t.strictSame(body.data, { text: 'grüße', big: 12345678901234 });
  t.match(body.received_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  t.equal(request.headers['x-cs-event-id'], body.id);
  t.equal(request.headers['x-cs-delivery-id'], delivery?.id);
  t.match(delivery, { subscription_id: subscription, attempt_count: 1, next_attempt_at: null, job: null });
  t.strictSame(delivery?.attempts, [
    { sequence: 1, outcome: 'delivered', status_code: 204, error: null, closed: true },
  ]);
  const { attempts, attempt_s, latency_s, waiting } = host.dispatcher.stats();
  t.match({ attempts, waiting }, { attempts: { delivered: 1 }, waiting: 0 });
  t.equal(attempt_s.delivered.counts.at(-1), 0, 'within the deadline');
  t.match(
    [attempt_s.delivered, latency_s].map(({ counts }) => Math.max(...counts)),
    [1, 1],
    'each counted once',
  );
});

t.test('five attempts at 1, 5, 30 and 120 seconds, then failed', async (t) => {
  const { db, connection, clock } = await setUpClock(t);
  const hook = await receiver(t, onLoopback, (_request, response) => response.writeHead(500).end('no'));
  await insertSubscription(db, connection, hook.url);
  const host = await DeliveryHost.start(t, db, { ca });
  await record(db, connection);
  for (const [i, wait_s] of [1, 5, 30, 120].entries()) {
    t.equal(await host.fetch(connection.partition), 1);
    await host.parked();
    const [delivery] = await deliveries(db);
    const due = new Date(clock.now().getTime() + wait_s * 1000);
    t.strictSame(host.wakes.at(-1), { partition: connection.partition, due_in_ms: wait_s * 1000 });
    t.match(delivery, { status: 'pending', attempt_count: i + 1, last_error: 'status_500', job: 'created' });
    t.strictSame(delivery?.next_attempt_at, due);
    t.strictSame(delivery?.job_due, due);
    await clock.moveTo(new Date(due.getTime() - 1));
    t.equal(await host.fetch(connection.partition), 0, 'not a millisecond early');
    await clock.moveTo(due);
  }
  t.equal(await host.fetch(connection.partition), 1);
  const [delivery] = await eventually(
    'the delivery is failed and its job gone',
    () => deliveries(db),
    ([only]) => only?.status === 'failed' && only.job === null,
  );
  t.match(delivery, { attempt_count: 5, next_attempt_at: null, job: null, delivered_at: null });
  t.strictSame(
    delivery?.attempts.map((attempt) => [attempt.sequence, attempt.outcome, attempt.status_code, attempt.error]),
    [1, 2, 3, 4, 5].map((sequence) => [sequence, 'failed', 500, 'status']),
  );
  t.equal(hook.received.length, 5);
  t.equal(new Set(hook.received.map(({ headers }) => headers['x-cs-timestamp'])).size, 5, 'a fresh timestamp each');
  t.equal(new Set(hook.received.map(({ headers }) => headers['x-cs-delivery-id'])).size, 1);
  t.ok(hook.received.every((request) => verified(request, SECRET)));
  await eventually(
    'the failure is logged',
    () => host.logged,
    (lines) => lines.some(({ msg }) => msg === 'deliveries: a delivery failed'),
  );
  const [debug, warn] = [pino.levels.values.debug, pino.levels.values.warn];
  t.strictSame(
    host.logged.map(({ level, msg, attempt }) => [level, msg, attempt]),
    [
      ...[1, 2, 3, 4, 5].map((n) => [debug, 'deliveries: an attempt failed', n]),
      [warn, 'deliveries: a delivery failed', 5],
    ],
    'one line for an attempt at debug, one for the delivery',
  );
  t.match(host.logged.at(-1), {
    delivery_id: delivery?.id,
    subscription_id: delivery?.subscription_id,
    event_id: delivery?.event_id,
    origin: new URL(hook.url).origin,
    error: 'status',
    status_code: 500,
  });
  const lines = JSON.stringify(host.logged);
  for (const secret of ['hello', SECRET, new URL(hook.url).pathname.slice(1), ...signaturesOf(hook.received)])
    t.notOk(lines.includes(secret), 'neither body, secret, path nor signature');
});

for (const off_s of [-120, 120]) {
  t.test(`a node whose clock is ${off_s} seconds off retries and signs by the database's`, async (t) => {
    const { db, connection } = await setUp(t);
    const hook = await receiver(t, onLoopback, (_request, response) => response.writeHead(500).end());
    await insertSubscription(db, connection, hook.url);
    const real_ms = Date.now();
    mock.timers.enable({ apis: ['Date'], now: real_ms + off_s * 1_000 });
    t.teardown(() => mock.timers.reset());
    const host = await DeliveryHost.start(t, db, { ca });
    await record(db, connection);
    await host.fetch(connection.partition);
    await host.parked();
    const [times] = await db.query<{ wait_s: number; started: Date }>(
      'testTimes',
      `select extract(epoch from d.next_attempt_at - a.completed_at)::float8 as wait_s, a.started_at as started
       from delivery d join delivery_attempt a on a.delivery_id = d.id`,
    );
    t.equal(times?.wait_s, 1);
    t.ok(Math.abs((times?.started.getTime() ?? 0) - real_ms) < 60_000);
    const signed_ms = Number(hook.received[0]?.headers['x-cs-timestamp']) * 1_000;
    t.ok(Math.abs(signed_ms - real_ms) < 60_000, 'a receiver finds the signature fresh');
    t.ok(verified(hook.received[0]!, SECRET));
  });
}

t.test('a receiver that comes back gets the delivery at the next attempt', async (t) => {
  const { db, connection, clock } = await setUpClock(t);
  let up = false;
  const hook = await receiver(t, onLoopback, (_request, response) => response.writeHead(up ? 200 : 503).end());
  await insertSubscription(db, connection, hook.url);
  const host = await DeliveryHost.start(t, db, { ca });
  await record(db, connection);
  await host.fetch(connection.partition);
  await host.parked();
  up = true;
  await clock.moveTo(new Date(clock.now().getTime() + host.wakes.at(-1)!.due_in_ms));
  await host.fetch(connection.partition);
  const [delivery] = await eventually(
    'the delivery is delivered and its job gone',
    () => deliveries(db),
    ([only]) => only?.status === 'delivered' && only.job === null,
  );
  t.match(delivery, { attempt_count: 2, last_error: null, job: null });
});

longTest(t, 'dead receivers, however many, do not delay another', async (t) => {
  const { db, connection } = await setUp(t);
  let open = 0;
  const dead = await receiver(t, onLoopback, (_request, _response, socket) => {
    open++;
    socket.once('close', () => open--);
  });
  let most = 0;
  const alive = await receiver(t, onLoopback, (_request, response) => {
    most = Math.max(most, open);
    response.writeHead(204).end();
  });
  for (let i = 0; i < 6; i++) await insertSubscription(db, connection, dead.url);
  const host = await DeliveryHost.start(t, db, { ca, concurrency: 16, deadline_ms: 300 });
  await record(db, connection, 100);
  // They take every slot until each has shown that it is slow; from then on half of the slots stay free.
  await host.fetch(connection.partition);
  await eventually(
    'the dead receivers have timed out',
    () => host.dispatcher.stats(),
    (stats) => stats.attempts.timeout >= 24,
  );
  const subscription = await insertSubscription(db, connection, alive.url);
  await record(db, connection, 50);
  const handed = host.fetch(connection.partition, 1_000);
  await Promise.all([handed, alive.arrived(50)]);
  t.ok(most <= 8, `the dead ones had ${most} of 16 slots`);
  await eventually(
    'fifty deliveries are delivered',
    () => deliveries(db, subscription),
    (rows) => rows.length === 50 && rows.every(({ status }) => status === 'delivered'),
  );
});

t.test('the backlog of a dead receiver does not delay another', async (t) => {
  const { db, connection } = await setUp(t);
  const dead = await receiver(t, onLoopback, () => {});
  const alive = await receiver(t, onLoopback);
  const backlogged = await insertSubscription(db, connection, dead.url);
  const host = await DeliveryHost.start(t, db, { ca, deadline_ms: 2_000 });
  await record(db, connection, 1_000);
  await db.query('testQuiet', `update subscription set event_types = '{message_sent}'`);
  await insertSubscription(db, connection, alive.url);
  await record(db, connection);
  await Promise.all([host.fetch(connection.partition), alive.arrived(1)]);
  t.ok(dead.received.length <= 2, 'that receiver has not answered yet');
  const rows = await deliveries(db, backlogged);
  t.equal(rows.filter(({ status }) => status === 'pending' || status === 'sending').length, 1_000, 'none is lost');
});

t.test('one subscription has at most eight attempts in flight, and claims no more', async (t) => {
  const { db, connection } = await setUp(t);
  const answers: (() => void)[] = [];
  let open = true;
  const hook = await receiver(t, onLoopback, (_request, response) => {
    const answer = () => response.writeHead(204).end();
    if (open) answer();
    else answers.push(answer);
    if (hook.received.length === 40) open = false;
  });
  await insertSubscription(db, connection, hook.url);
  const host = await DeliveryHost.start(t, db, { ca });
  await record(db, connection, 400);
  await host.fetch(connection.partition);
  await eventually(
    'eight attempts are held',
    () => answers.length,
    (held) => held === 8,
  );
  await eventually(
    'all but the held ones are delivered',
    () => deliveries(db),
    (all) => all.filter(({ status }) => status === 'delivered').length === hook.received.length - 8,
  );
  t.equal(host.dispatcher.stats().in_flight, 8);
  const rows = await deliveries(db);
  t.equal(rows.filter(({ status }) => status === 'sending').length, 8);
  t.ok(
    allOf(
      rows.filter(({ status }) => status === 'pending'),
      ({ attempt_count }) => attempt_count === 0,
    ),
  );
  open = true;
  for (const answer of answers) answer();
  await eventually(
    'everything is delivered and the job gone',
    () => deliveries(db),
    (all) => all.every(({ status, job }) => status === 'delivered' && job === null),
  );
  t.ok(rows.every(({ attempts }) => attempts.length <= 1));
});

t.test('a start whose answer is lost on the way is taken back, and the delivery made once', async (t) => {
  const { db, connection } = await setUp(t);
  const hook = await receiver(t, onLoopback);
  await insertSubscription(db, connection, hook.url);
  let lost = 0;
  const flaky: typeof db = {
    ...db,
    query: async (name, text, values) => {
      const rows = await db.query(name, text, values);
      if (name === 'startDeliveries' && lost++ < 2) throw new Error('the connection is gone');
      return rows as never;
    },
  };
  const host = await DeliveryHost.start(t, db, { ca, relaxed: flaky });
  await record(db, connection, 3);
  await host.fetch(connection.partition);
  const rows = await eventually(
    'everything is delivered and the job gone',
    () => deliveries(db),
    (all) => all.every(({ status, job }) => status === 'delivered' && job === null),
  );
  t.ok(rows.every(({ attempt_count, attempts }) => attempt_count === 1 && attempts.length === 1));
  t.equal(hook.received.length, 3);
});

t.test('a start that is taken back late takes back nothing of the next one', async (t) => {
  const { db, connection } = await setUp(t);
  const answers: (() => void)[] = [];
  const hook = await receiver(t, onLoopback, (_request, response) => answers.push(() => response.writeHead(204).end()));
  await insertSubscription(db, connection, hook.url);
  const undone: unknown[] = [];
  let lost = 0;
  const lossy: typeof db = {
    ...db,
    query: async (name, text, values = []) => {
      const rows = await db.query(name, text, values);
      if (name === 'undoStarts') undone.push([name, text, values]);
      if (name === 'startDeliveries' && lost++ === 0) throw new Error('the connection is gone');
      return rows as never;
    },
  };
  const host = await DeliveryHost.start(t, db, { ca, db: lossy, relaxed: lossy });
  await record(db, connection);
  await host.fetch(connection.partition);
  await hook.arrived(1);
  t.equal(undone.length, 1);
  for (const [name, text, values] of undone as [string, string, unknown[]][]) await db.query(name, text, values);
  t.match(await deliveries(db), [{ status: 'sending', attempt_count: 1, attempts: [{ outcome: 'sending' }] }]);
  for (const answer of answers) answer();
  await eventually(
    'everything is delivered and the job gone',
    () => deliveries(db),
    (rows) => rows.every(({ status, job }) => status === 'delivered' && job === null),
  );
  t.equal(hook.received.length, 1);
});

t.test('a delivery that another transaction holds does not delay the ends of others', async (t) => {
  const { db, connection } = await setUp(t);
  const answers: (() => void)[] = [];
  const hook = await receiver(t, onLoopback, (_request, response) => answers.push(() => response.writeHead(204).end()));
  for (let i = 0; i < 12; i++) await insertSubscription(db, connection, hook.url);
  const host = await DeliveryHost.start(t, db, { ca });
  await record(db, connection);
  await host.fetch(connection.partition);
  await hook.arrived(12);
  const held = (await deliveries(db))[7]?.id;
  await db.transaction(async (tx) => {
    await tx.query('testLockDelivery', 'select from delivery where id = $1 for update', [held]);
    for (const answer of answers) answer();
    await eventually(
      'all but the held one are delivered',
      () => deliveries(db),
      (rows) => rows.every(({ id, status }) => (status === 'delivered') === (id !== held)),
    );
  });
  await eventually(
    'the held one as well, and every job is gone',
    () => deliveries(db),
    (rows) => rows.every(({ status, job }) => status === 'delivered' && job === null),
  );
  t.equal(hook.received.length, 12);
});

t.test('a retry that falls due while a slow attempt is under way is made in time', async (t) => {
  const { db, connection, clock } = await setUpClock(t);
  const answers: (() => void)[] = [];
  const hook = await receiver(t, onLoopback, (_request, response) => {
    if (hook.received.length === 1) answers.push(() => response.writeHead(204).end());
    else response.writeHead(hook.received.length === 2 ? 500 : 204).end();
  });
  const subscription = await insertSubscription(db, connection, hook.url);
  const host = await DeliveryHost.start(t, db, { ca });
  await record(db, connection, 2);
  await host.fetch(connection.partition);
  const retry = await eventually(
    'one has failed, its retry is told of, and the job is given back',
    () => host.wakes.at(-1),
    (wake) => wake !== undefined && host.states.get(subscription) === 'idle',
  );
  t.equal(host.dispatcher.stats().in_flight, 1);
  await clock.moveTo(new Date(clock.now().getTime() + retry!.due_in_ms));
  t.equal(await host.fetch(connection.partition), 1);
  await eventually(
    'the retry is delivered',
    () => deliveries(db),
    (rows) => rows.filter(({ status }) => status === 'delivered').length === 1,
  );
  for (const answer of answers) answer();
  await eventually(
    'everything is delivered and the job gone, at the latest with the poll',
    async () => {
      await host.fetch(connection.partition);
      return deliveries(db);
    },
    (rows) => rows.every(({ status, job }) => status === 'delivered' && job === null),
  );
  t.equal(hook.received.length, 3);
});

t.test('a job that another transaction holds is parked once it is released', async (t) => {
  const { db, connection } = await setUp(t);
  const answers: (() => void)[] = [];
  const hook = await receiver(t, onLoopback, (_request, response) => answers.push(() => response.writeHead(204).end()));
  const subscription = await insertSubscription(db, connection, hook.url);
  const host = await DeliveryHost.start(t, db, { ca });
  await record(db, connection);
  await host.fetch(connection.partition);
  await hook.arrived(1);
  await db.transaction(async (tx) => {
    await lockJob(tx, subscription);
    for (const answer of answers) answer();
    await eventually(
      'the delivery is delivered',
      () => deliveries(db),
      ([only]) => only?.status === 'delivered',
    );
    t.equal((await deliveries(db))[0]?.job, 'active');
  });
  await eventually(
    'the job is gone',
    () => deliveries(db),
    ([only]) => only?.job === null,
  );
});

t.test('what is recorded while the job of its subscription is parked is delivered all the same', async (t) => {
  const { db, connection } = await setUp(t);
  const hook = await receiver(t, onLoopback);
  await insertSubscription(db, connection, hook.url);
  const host = await DeliveryHost.start(t, db, { ca });
  for (let i = 1; i <= 60; i++) {
    await record(db, connection);
    await host.fetch(connection.partition);
    if (i % 3 > 0) continue;
    await eventually(
      'it arrives, at the latest with the poll',
      async () => {
        await host.fetch(connection.partition);
        return hook.received.length;
      },
      (count) => count === i,
    );
  }
  await eventually(
    'everything is delivered and the job gone',
    async () => {
      await host.fetch(connection.partition);
      return deliveries(db);
    },
    (rows) => rows.every(({ status, job }) => status === 'delivered' && job === null),
  );
  t.equal(hook.received.length, 60);
});

t.test('a crash between sending and finishing is recovered and delivered again', async (t) => {
  const { db, connection } = await setUp(t);
  let hang = true;
  const hook = await receiver(t, onLoopback, (_request, response) => {
    if (!hang) response.writeHead(200).end();
  });
  await insertSubscription(db, connection, hook.url);
  const lost = await DeliveryHost.start(t, db, { ca, deadline_ms: 1_500 });
  await record(db, connection);
  await lost.fetch(connection.partition);
  await hook.arrived(1);
  hang = false;
  const next = await DeliveryHost.start(t, db, { ca });
  next.owned = lost.owned;
  Object.assign(next, { nodeId: lost.nodeId });
  await next.retake(connection.partition);
  const [recovered] = await deliveries(db);
  t.match(recovered, { status: 'pending', attempt_count: 1, series_attempts: 0, job: 'created' });
  t.match(recovered?.attempts, [{ sequence: 1, outcome: 'abandoned', closed: true }]);
  await next.fetch(connection.partition);
  const [delivered] = await eventually(
    'the delivery is delivered and its job gone',
    () => deliveries(db),
    ([only]) => only?.status === 'delivered' && only.job === null,
  );
  t.match(delivered, { attempt_count: 2, job: null });
  t.equal(hook.received[0]?.headers['x-cs-event-id'], hook.received[1]?.headers['x-cs-event-id']);
  // The lost owner's attempt runs into its deadline: its end must change nothing.
  await lost.dispatcher.drain();
  const [after] = await deliveries(db);
  t.strictSame(after, delivered);
});

t.test('a stale epoch starts nothing and leaves the job alone', async (t) => {
  const { db, connection } = await setUp(t);
  const hook = await receiver(t, onLoopback);
  await insertSubscription(db, connection, hook.url);
  const host = await DeliveryHost.start(t, db, { ca });
  await record(db, connection);
  const [{ subscription_id } = { subscription_id: '' }] = await deliveries(db);
  host.dispatcher.take(connection.partition, host.epoch(connection.partition) - 1, [
    { id: subscription_id, workspace_id: connection.workspaceId, destination: null, paused_reason: null },
  ]);
  await host.quiet();
  await host.dispatcher.drain();
  t.match(await deliveries(db), [{ status: 'pending', attempt_count: 0, attempts: [], job: 'created' }]);
  t.equal(hook.received.length, 0);
});

t.test('a deactivation in mid-attempt stays canceled, and so does its attempt', async (t) => {
  const { db, connection } = await setUp(t);
  const answers: (() => void)[] = [];
  const hook = await receiver(t, onLoopback, (_request, response) => answers.push(() => response.writeHead(200).end()));
  const subscription = await insertSubscription(db, connection, hook.url);
  const host = await DeliveryHost.start(t, db, { ca });
  await record(db, connection, 10);
  await host.fetch(connection.partition);
  await hook.arrived(2);
  await db.query(
    'testDeactivate',
    `with off as (update subscription set active = false where id = $1)
     update delivery set status = 'canceled', next_attempt_at = null where subscription_id = $1`,
    [subscription],
  );
  for (const answer of answers) answer();
  await host.dispatcher.drain();
  await host.dispatcher.drain();
  const rows = await deliveries(db);
  t.ok(allOf(rows, ({ status }) => status === 'canceled'));
  const sent = rows.filter(({ attempt_count }) => attempt_count === 1);
  t.equal(sent.length, 2);
  for (const { attempts } of sent) {
    t.match(attempts, [{ outcome: 'canceled', status_code: 200, error: null, closed: true }]);
  }
  t.equal(hook.received.length, 2, 'what waited was not sent');
});

t.test('the job of a subscription that has nothing left, or is gone, is removed', async (t) => {
  const { db, connection } = await setUp(t);
  const hook = await receiver(t, onLoopback);
  const subscription = await insertSubscription(db, connection, hook.url);
  const host = await DeliveryHost.start(t, db, { ca });
  await record(db, connection, 3);
  await db.query('testCancel', `update delivery set status = 'canceled', next_attempt_at = null`);
  await host.fetch(connection.partition);
  await eventually(
    'the job is gone',
    () => deliveries(db),
    (rows) => rows.every(({ job }) => job === null),
  );
  await record(db, connection, 2);
  await db.query('testDelete', 'delete from subscription where id = $1', [subscription]);
  await host.fetch(connection.partition);
  const jobs = () => jobIds(db, 'delivery');
  await eventually('no delivery job is left', jobs, (rows) => rows.length === 0);
  t.equal(hook.received.length, 0);
});

t.test('each earlier secret signs for a day from its own rotation', async (t) => {
  const { db, connection, clock } = await setUpClock(t);
  const hook = await receiver(t, onLoopback);
  const subscription = await insertSubscription(db, connection, hook.url);
  const host = await DeliveryHost.start(t, db, { ca });
  const second = 'the second secret, more than 32 characters';
  const third = 'the third secret, which has more than 32 characters';
  const sealed = (secret: string) => ring.seal(secret, `subscription/${subscription}/secret`);
  const startedAt = clock.now().getTime();
  const at = (hours: number) => clock.moveTo(new Date(startedAt + hours * 3_600_000));
  const bounds = { secret_overlap_hours: 24, former_secrets: 5 };
  /** Which of the three sign the next callback. */
  const signing = async (nth: number) => {
    await record(db, connection);
    // The subscription may be busy with the end of the callback before: then nothing is fetched.
    const fetched = async () => {
      await host.fetch(connection.partition);
      return hook.received.length;
    };
    await eventually('the callback comes', fetched, (received) => received >= nth);
    return [SECRET, second, third].map((secret) => verified(hook.received[nth - 1]!, secret));
  };
  t.ok(await rotateSecret(db, subscription, sealed(second), bounds));
  t.strictSame(await signing(1), [true, true, false]);
  await at(1);
  t.ok(await rotateSecret(db, subscription, sealed(third), bounds));
  t.strictSame(await signing(2), [true, true, true]);
  await at(24);
  t.strictSame(await signing(3), [false, true, true]);
  await at(25);
  t.strictSame(await signing(4), [false, false, true]);
});

t.test('without the key of a secret the delivery waits: no attempt counts and nothing is sent', async (t) => {
  const { db, connection } = await setUp(t);
  const hook = await receiver(t, onLoopback);
  await insertSubscription(db, connection, hook.url);
  const host = await DeliveryHost.start(t, db, { ca, ring: keyRing([]) });
  await record(db, connection);
  await host.fetch(connection.partition);
  const [delivery] = await eventually(
    'the delivery is put off',
    () => deliveries(db),
    ([only]) => only?.status === 'pending' && only.job === 'created',
  );
  t.match(delivery, { last_error: null, attempt_count: 0, series_attempts: 0, attempts: [] });
  const due_ms = async () => {
    const text = 'select extract(epoch from next_attempt_at - now())::float8 * 1000 as due_ms from delivery';
    return (await db.query<{ due_ms: number }>('testDue', text))[0]?.due_ms ?? 0;
  };
  t.ok((await eventually('it is due later', due_ms, (due) => due > 10_000)) > 10_000);
  t.equal(hook.received.length, 0);
});

t.test(
  'draining starts nothing more, writes the end of what is being sent, and leaves the rest to the next owner',
  async (t) => {
    const { db, connection } = await setUp(t);
    const answers: (() => void)[] = [];
    let open = false;
    const hook = await receiver(t, onLoopback, (_request, response) => {
      if (open) response.writeHead(200).end();
      else answers.push(() => response.writeHead(200).end());
    });
    await insertSubscription(db, connection, hook.url);
    const host = await DeliveryHost.start(t, db, { ca });
    await record(db, connection, 20);
    await host.fetch(connection.partition);
    await hook.arrived(2);
    const drained = host.dispatcher.drain();
    t.equal(host.dispatcher.room(connection.partition), 0);
    for (const answer of answers) answer();
    await drained;
    const rows = await deliveries(db);
    t.equal(rows.filter(({ status }) => status === 'delivered').length, 2);
    t.equal(rows.filter(({ status }) => status === 'pending').length, 18);
    t.equal(hook.received.length, 2);
    open = true;
    const next = await DeliveryHost.start(t, db, { ca });
    next.owned = host.owned;
    Object.assign(next, { nodeId: host.nodeId });
    await next.retake(connection.partition);
    await next.fetch(connection.partition);
    await eventually(
      'everything is delivered and the job gone',
      () => deliveries(db),
      (all) => all.every(({ status, job }) => status === 'delivered' && job === null),
    );
    t.equal(hook.received.length, 20, 'each once');
  },
);

t.test('a lost partition is dropped: nothing of it starts any more', async (t) => {
  const { db, connection } = await setUp(t);
  const answers: (() => void)[] = [];
  const hook = await receiver(t, onLoopback, (_request, response) => answers.push(() => response.writeHead(200).end()));
  await insertSubscription(db, connection, hook.url);
  const host = await DeliveryHost.start(t, db, { ca });
  await record(db, connection, 30);
  await host.fetch(connection.partition);
  await hook.arrived(2);
  host.dispatcher.drop(connection.partition);
  t.equal(host.dispatcher.stats().subscriptions, 0);
  for (const answer of answers) answer();
  await host.dispatcher.drain();
  t.equal(hook.received.length, 2);
});

t.test('a database that fails for a while delays the end of an attempt and loses nothing', async (t) => {
  const { db, connection } = await setUp(t);
  const hook = await receiver(t, onLoopback);
  await insertSubscription(db, connection, hook.url);
  let failures = 0;
  const flaky: typeof db = {
    ...db,
    query: (name, text, values) =>
      name === 'finishDeliveries' && failures++ < 2
        ? Promise.reject(new Error('the connection is gone'))
        : db.query(name, text, values),
  };
  const host = await DeliveryHost.start(t, db, { ca, db: flaky });
  await record(db, connection);
  await host.fetch(connection.partition);
  const [delivery] = await eventually(
    'the delivery is delivered and its job gone',
    () => deliveries(db),
    ([only]) => only?.status === 'delivered' && only.job === null,
  );
  t.match(delivery, { attempt_count: 1, job: null });
  t.equal(failures, 3, 'written at the third try');
});

longTest(t, 'five hundred deliveries of one event share its bytes and all arrive', async (t) => {
  const { db, connection } = await setUp(t);
  const hook = await receiver(t, onLoopback);
  for (let i = 0; i < 100; i++) await insertSubscription(db, connection, hook.url);
  const host = await DeliveryHost.start(t, db, { ca, concurrency: 64 });
  await record(db, connection, 5);
  while ((await host.fetch(connection.partition)) > 0);
  await eventually(
    'everything is delivered',
    () => deliveries(db),
    (rows) => rows.every(({ status }) => status === 'delivered'),
  );
  t.equal(new Set(hook.received.map(({ headers }) => headers['x-cs-delivery-id'])).size, 500);
  t.equal(hook.received.length, 500);
  t.ok(hook.connections <= 64, `${hook.connections} connections`);
});
