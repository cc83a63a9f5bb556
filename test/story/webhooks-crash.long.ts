import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import net, { type AddressInfo, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { recordEvents } from '../../storage/deliveries/events-record.js';
import type { Database } from '../../storage/postgres/database.js';
import { authority } from '../fixture/certificates.js';
import type { Client } from '../fixture/client.js';
import { eventually } from '../fixture/eventually.js';
import { receiver } from '../fixture/https-receiver.js';
import { deleteJobs, JOBS } from '../fixture/jobs.js';
import { nameServer } from '../fixture/name-server.js';
import { type ServiceFixture, serviceFixture, startService } from '../fixture/service.js';
import { connect, emit, subscribe, trusting } from '../fixture/webhooks.js';

/** More than two batches of a bulk replay. */
const BULK = 2_200;
/** A batch of a bulk replay. */
const BATCH = 1_000;
const ATTEMPTS = 5;
const HOST = 'crash.hooks.test';
const LOCK = 4712;

const certificates = await authority();
const onLoopback = await certificates.issue({ ip: '127.0.0.1' });

async function subscribed(client: Client, url: string): Promise<{ connection: string; subscription: string }> {
  const connection = await connect(client);
  return { connection, subscription: await subscribe(client, connection, url) };
}

/** Deliveries of the connection that have failed five times, as if long ago. They appear in one commit, with their attempts and without a job. */
async function failedDeliveries(
  { db, workspaceId }: ServiceFixture,
  connectionId: string,
  count: number,
): Promise<void> {
  await db.transaction(async (tx) => {
    const events = Array.from({ length: count }, () => ({
      connectionId,
      providerEventId: randomUUID(),
      type: 'message_received' as const,
      data: {},
    }));
    await recordEvents(tx, workspaceId, events);
    const failed = await tx.query<{ id: string }>(
      'testFailed',
      `with failed as (
         update delivery d set status = 'failed', attempt_count = $2, series_attempts = $2, next_attempt_at = null,
           last_error = 'status_500'
         from subscription s where s.id = d.subscription_id and s.connection_id = $1 returning d.id, d.subscription_id
       ), attempted as (
         insert into delivery_attempt (id, delivery_id, sequence, outcome, status_code, error, started_at, completed_at)
         select gen_random_uuid(), f.id, n, 'failed', 500, 'status', now(), now() from failed f, generate_series(1, $2) n
       )
       select distinct subscription_id as id from failed`,
      [connectionId, ATTEMPTS],
    );
    await deleteJobs(
      tx,
      failed.map(({ id }) => id),
    );
  });
}

interface State {
  id: string;
  status: string;
  replay_count: number;
  /** Of its subscription's job. */
  job: string | null;
  /** The outcomes of the attempts after the first five of a replayed delivery, in order. */
  outcomes: string[];
}

const states = (db: Database, subscription: string, after = 0): Promise<State[]> =>
  db.query<State>(
    'testStates',
    `select d.id, d.status, d.replay_count, j.state as job,
       (select coalesce(array_agg(a.outcome order by a.sequence), '{}') from delivery_attempt a
        where a.delivery_id = d.id and a.sequence > $2) as outcomes
     from delivery d left join ${JOBS} j on j.id = d.subscription_id where d.subscription_id = $1 order by d.event_id`,
    [subscription, after],
  );

/** Resolves once a session of this database waits for a lock of the kind. Not asked in a transaction, which sees old sessions only. */
async function waitedFor(db: Database, kind: 'advisory' | 'transactionid', sessions = 1): Promise<void> {
  await eventually(
    `${sessions} wait for a lock (${kind})`,
    () =>
      db.query(
        'testWaiting',
        `select 1 from pg_locks l join pg_stat_activity a on a.pid = l.pid
         where l.locktype = $1 and not l.granted and a.datname = current_database()`,
        [kind],
      ),
    (rows) => rows.length >= sessions,
  );
}

/** A listener that accepts connections and sends nothing, until it forwards them to the receiver behind it. */
async function muteListener(
  t: Test,
  target: number,
): Promise<{ port: number; taken: Promise<unknown>; forward(): void }> {
  let forwarding = false;
  const sockets = new Set<Socket>();
  const server = net.createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    if (!forwarding) return;
    const through = net.connect(target, '127.0.0.1').on('error', () => socket.destroy());
    socket.pipe(through).pipe(socket);
  });
  const taken = once(server, 'connection');
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return {
    port: (server.address() as AddressInfo).port,
    taken,
    forward() {
      forwarding = true;
    },
  };
}

t.test('a service killed at any point between a claim and an answer, and amid replays, forgets nothing', async (t) => {
  const names = await nameServer(t);
  names.zone.set(HOST, [{ a: '127.0.0.1' }]);
  let up = false;
  const held: ServerResponse[] = [];
  const hook = await receiver(t, onLoopback, (_request, response) => {
    if (up) response.writeHead(204).end();
    else held.push(response);
  });
  const named = await receiver(t, await certificates.issue({ host: HOST }));
  const silent = await muteListener(t, hook.port);
  const fixture = await serviceFixture(t, {
    ...(await trusting(t, certificates.ca)),
    ACTOR_THREADS: '2',
    CALLBACK_ALLOWED_NETWORKS: '127.0.0.1/32',
    CALLBACK_DNS_SERVERS: names.address,
  });
  const { db } = fixture;
  const before = await startService(t, fixture);
  const { client } = before;
  const at = (path: string, port = hook.port) => subscribed(client, `https://127.0.0.1:${port}${path}`);
  const requestsTo = (path: string) => hook.received.filter((request) => request.path === path);
  const bulk = await at('/bulk');
  const single = await at('/single');
  const asked = await at('/asked');
  const starting = await at('/starting');
  const handshake = await at('/handshake', silent.port);
  const lookup = await subscribed(client, `https://${HOST}:${named.port}/lookup`);
  await failedDeliveries(fixture, bulk.connection, BULK);
  await failedDeliveries(fixture, single.connection, 1);
  await failedDeliveries(fixture, asked.connection, 1);
  const [[replayed], [unanswered], inBulk] = (await Promise.all(
    [single, asked, bulk].map(({ subscription }) => states(db, subscription)),
  )) as [State[], State[], State[]];

  const locker = await db.pool.connect();
  t.teardown(() => locker.release(true));
  // The second batch of the bulk replay and the replay of `asked` wait for rows, the start of `starting` for a trigger.
  await locker.query(`create function hold_start() returns trigger language plpgsql as
    $$ begin perform pg_advisory_xact_lock(${LOCK}); return new; end $$`);
  await locker.query(`create trigger hold_start before update on delivery
    for each row when (old.subscription_id = '${starting.subscription}') execute function hold_start()`);
  await locker.query(`select pg_advisory_lock(${LOCK})`);
  await locker.query('begin');
  await locker.query('select 1 from delivery where id = any($1) for update', [[inBulk[BATCH + 1]!.id, unanswered!.id]]);

  await client.send('POST', `/v1/deliveries/${replayed!.id}/replay`);
  await eventually(
    'the replay is sent',
    () => requestsTo('/single').length,
    (count) => count === 1,
  );
  await emit(client, handshake.connection);
  await silent.taken;
  await emit(client, starting.connection);
  await waitedFor(db, 'advisory');
  names.zone.set(HOST, 'silent');
  const questions = names.asked(HOST);
  await emit(client, lookup.connection);
  await eventually(
    'the name is looked up',
    () => names.asked(HOST),
    (count) => count > questions,
  );
  // Last, and first the one that meets its lock later: a statement waits for a lock only so long, and then its request is answered.
  const bulkReplay = client.send('POST', `/v1/subscriptions/${bulk.subscription}/replay-failed`, {
    since: '2000-01-01T00:00:00Z',
  });
  const unansweredRequests = Promise.allSettled([bulkReplay]);
  await eventually(
    'the bulk replay is being sent',
    () => requestsTo('/bulk').length,
    (count) => count >= 1,
  );
  await waitedFor(db, 'transactionid');
  const oneReplay = Promise.allSettled([client.send('POST', `/v1/deliveries/${unanswered!.id}/replay`)]);
  await waitedFor(db, 'transactionid', 2);
  await before.kill();

  // The dead service's own sessions still wait for the locks: PostgreSQL ends them as a machine's loss would.
  await locker.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  );
  await locker.query('commit');
  await locker.query(`select pg_advisory_unlock(${LOCK})`);
  const answers = [...(await unansweredRequests), ...(await oneReplay)];
  t.strictSame(
    answers.map(({ status }) => status),
    ['rejected', 'rejected'],
    'neither replay was answered',
  );
  const heldBack = new Set(hook.received.map(({ headers }) => headers['x-cs-delivery-id']));
  const [notReplayed] = await states(db, asked.subscription);
  t.match(notReplayed, { status: 'failed', replay_count: 0, job: null }, 'a replay that was not answered was not made');
  const halfway = await states(db, bulk.subscription, ATTEMPTS);
  const inFirstBatch = halfway.filter(({ replay_count }) => replay_count === 1);
  t.equal(inFirstBatch.length, BATCH, 'of the bulk replay its first batch was made');
  t.ok(
    inFirstBatch.every(({ job }) => job !== null),
    'and has a job',
  );
  t.ok(halfway.every(({ replay_count, status }) => replay_count === 1 || status === 'failed'));

  up = true;
  silent.forward();
  names.zone.set(HOST, [{ a: '127.0.0.1' }]);
  const after = await startService(t, fixture);
  const delivered = (subscription: string, count: number, past = 0) =>
    eventually(
      `${count} are delivered`,
      () => states(db, subscription, past),
      (rows) => rows.filter(({ status }) => status === 'delivered').length === count,
    );

  const [atLookup] = await delivered(lookup.subscription, 1);
  t.strictSame(atLookup?.outcomes, ['abandoned', 'delivered'], 'killed at the name lookup');
  t.equal(named.received.length, 1, 'whose first attempt sent nothing');
  const [atHandshake] = await delivered(handshake.subscription, 1);
  t.strictSame(atHandshake?.outcomes, ['abandoned', 'delivered'], 'killed in the handshake');
  t.equal(requestsTo('/handshake').length, 1, 'whose first attempt sent no request');
  const [atStart] = await delivered(starting.subscription, 1);
  t.strictSame(atStart?.outcomes, ['delivered'], 'killed before the start was written: there was no attempt');
  t.equal(requestsTo('/starting').length, 1);
  const [atReplay] = await delivered(single.subscription, 1, ATTEMPTS);
  t.match(atReplay, { outcomes: ['abandoned', 'delivered'], replay_count: 1 });
  t.equal(requestsTo('/single').length, 2);

  await delivered(bulk.subscription, BATCH, ATTEMPTS);
  const rest = await after.client.send('POST', `/v1/subscriptions/${bulk.subscription}/replay-failed`, {
    since: '2000-01-01T00:00:00Z',
  });
  t.strictSame([rest.status, rest.body], [202, { replayed: BULK - BATCH }], 'asked again, the rest is replayed');
  const again = await after.client.send('POST', `/v1/deliveries/${unanswered!.id}/replay`);
  t.match([again.status, again.body], [202, { status: 'pending', replay_count: 1, attempt_count: ATTEMPTS }]);
  await delivered(asked.subscription, 1);
  const all = await delivered(bulk.subscription, BULK, ATTEMPTS);
  const requests = new Map<string, number>();
  for (const { headers } of requestsTo('/bulk')) {
    const id = headers['x-cs-delivery-id'] as string;
    requests.set(id, (requests.get(id) ?? 0) + 1);
  }
  const wrong = all.filter(({ id, outcomes, replay_count }) => {
    const abandoned = outcomes.filter((outcome) => outcome === 'abandoned').length;
    const sent = requests.get(id) ?? 0;
    // An abandoned attempt was killed before or after it was sent; every other one was sent, once.
    const onTheWire = abandoned === 0 ? sent === 1 : abandoned === 1 && sent === (heldBack.has(id) ? 2 : 1);
    return !onTheWire || outcomes.at(-1) !== 'delivered' || outcomes.length !== 1 + abandoned || replay_count !== 1;
  });
  t.strictSame(wrong, [], 'the log matches the wire');
  t.ok(
    all.some(({ outcomes }) => outcomes[0] === 'abandoned'),
    'some were being sent',
  );
});
