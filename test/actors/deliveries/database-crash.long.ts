import type { ServerResponse } from 'node:http';
import pg from 'pg';
import t, { type Test } from 'tap';
import { openDatabase } from '../../../storage/postgres/database.js';
import { connectDatabase } from '../../../storage/postgres/embedded/embedded.js';
import { migrate } from '../../../storage/schema/migrate.js';
import { authority } from '../../fixture/certificates.js';
import { dataFolder } from '../../fixture/data-folder.js';
import { eventually } from '../../fixture/eventually.js';
import { receiver } from '../../fixture/https-receiver.js';
import { JOBS } from '../../fixture/jobs.js';
import { deliveries, insertConnection, insertSubscription, record } from './delivery-host.js';
import { DeliveryThread } from './delivery-thread.js';

const certificates = await authority();
const onLoopback = await certificates.issue({ ip: '127.0.0.1' });

/** A PostgreSQL of this test's own, which writes relaxed commits to its log as late as it can, and can be crashed. */
async function ownServer(t: Test) {
  const dataDir = await dataFolder(t);
  const settings = ['wal_writer_delay=10s', 'shared_buffers=32MB', 'fsync=off'];
  const server = await connectDatabase({ dataDir, exclusive: true, settings });
  t.teardown(() => server.stop());
  await migrate(server.url);
  const db = openDatabase({ url: server.url, maxConnections: 4, applicationName: 'test', onError: () => {} });
  t.teardown(() => db.close());
  const connected = async () => {
    const client = new pg.Client({ connectionString: server.url });
    const gone = new Promise<void>((resolve) => client.once('error', () => resolve()));
    await client.connect();
    return { client, gone };
  };
  /**
   * A backend that is killed takes the memory of the whole server with it: what was not in the log is lost. Resolves when the server
   * takes connections again: none while a session from before still lives.
   */
  const crash = async () => {
    const [victim, witness] = [await connected(), await connected()];
    const { rows } = await victim.client.query<{ pid: number }>('select pg_backend_pid() as pid');
    process.kill(rows[0]?.pid as number, 'SIGKILL');
    await Promise.all([victim.gone, witness.gone]);
    const again = await eventually(
      'the database takes connections again',
      () => connected().catch(() => undefined),
      (one) => one !== undefined,
    );
    await again?.client.end();
  };
  return { url: server.url, db, crash };
}

t.test('starts that a crash of the database loses leave nothing behind, and every callback is made', async (t) => {
  const { url, db, crash } = await ownServer(t);
  const connection = await insertConnection(db);
  const held: ServerResponse[] = [];
  let open = false;
  const hook = await receiver(t, onLoopback, (_request, response) => {
    if (open) response.writeHead(204).end();
    else held.push(response);
  });
  for (let i = 0; i < 5; i++) await insertSubscription(db, connection, hook.url);
  const thread = await DeliveryThread.start(t, { url, db }, { ca: certificates.ca });
  await record(db, connection, 4);
  void thread.wake(connection.partition);
  await hook.arrived(10);
  await crash();
  const rows = await eventually(
    'the database answers again',
    () => deliveries(db).catch(() => []),
    ({ length }) => length > 0,
  );
  const sent = new Set(hook.received.map(({ headers }) => headers['x-cs-delivery-id']));
  t.ok(
    rows.some(({ id, status, attempts }) => sent.has(id) && status === 'pending' && attempts.length === 0),
    'starts of callbacks that were sent are lost',
  );
  open = true;
  for (const response of held) response.writeHead(204).end();
  await eventually(
    'everything is delivered and every job gone',
    () =>
      db
        .query(
          'testLeft',
          `select 1 from delivery where status <> 'delivered'
         union all select 1 from delivery_attempt where outcome = 'sending'
         union all select 1 from ${JOBS} j where j.queue_name like 'delivery-%'`,
        )
        .catch(() => ['no answer']),
    (left) => left.length === 0,
  );
  const after = await deliveries(db);
  t.equal(after.length, 20);
  t.equal(new Set(hook.received.map(({ headers }) => headers['x-cs-delivery-id'])).size, 20);
  t.ok(after.every(({ attempts, attempt_count }) => attempts.length === attempt_count));
});
