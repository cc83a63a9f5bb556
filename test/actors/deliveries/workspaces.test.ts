import type { ServerResponse } from 'node:http';
import t from 'tap';
import { v7 as uuidv7 } from 'uuid';
import type { Database } from '../../../storage/postgres/database.js';
import { authority } from '../../fixture/certificates.js';
import { freshDatabase } from '../../fixture/database.js';
import { eventually } from '../../fixture/eventually.js';
import { receiver } from '../../fixture/https-receiver.js';
import { type Connection, insertConnection, insertSubscription, record, ring, SECRET } from './delivery-host.js';
import { DeliveryThread } from './delivery-thread.js';

const certificates = await authority();
const { ca } = certificates;
const onLoopback = await certificates.issue({ ip: '127.0.0.1' });

const SUBSCRIPTIONS = 10_000;

/** As `insertSubscription`, in one statement. */
async function insertSubscriptions(db: Database, connection: Connection, url: string, count: number): Promise<void> {
  const ids = Array.from({ length: count }, () => uuidv7());
  await db.query(
    'testSubscriptions',
    `insert into subscription (id, workspace_id, connection_id, partition, event_types, callback_url, active, secret_sealed)
     select i.id, $3, $4, $5, '{message_received}', $6, true, i.secret from unnest($1::uuid[], $2::bytea[]) i(id, secret)`,
    [
      ids,
      ids.map((id) => ring.seal(SECRET, `subscription/${id}/secret`)),
      connection.workspaceId,
      connection.id,
      connection.partition,
      url,
    ],
  );
}

/** A connection of a workspace of its own, in this partition. */
async function neighbour(db: Database, partition: number): Promise<Connection> {
  for (;;) {
    const connection = await insertConnection(db);
    if (connection.partition === partition) return connection;
  }
}

t.test('ten thousand stalling subscriptions of one workspace do not delay the callbacks of another', async (t) => {
  const database = await freshDatabase(t);
  const { db } = database;
  const crowded = await insertConnection(db);
  const small = await neighbour(db, crowded.partition);
  const held: ServerResponse[] = [];
  let over = false;
  const stalling = await receiver(t, onLoopback, (_request, response) => {
    if (over) response.writeHead(500).end();
    else held.push(response);
  });
  const prompt = await receiver(t, onLoopback);
  await insertSubscriptions(db, crowded, stalling.url, SUBSCRIPTIONS);
  await insertSubscription(db, small, prompt.url);
  const thread = await DeliveryThread.start(t, database, { ca, concurrency: 32, workspacePercent: 75 });
  await record(db, crowded);
  const wake = () => thread.wake(crowded.partition);
  void wake();
  await eventually(
    'the stalling ones hold their share of the slots for receivers that are not known, and of the subscriptions in memory',
    () => thread.deliveries.stats(),
    ({ in_flight, subscriptions }) => in_flight === 12 && subscriptions >= SUBSCRIPTIONS * 0.75,
  );
  const ended = () => held.filter(({ closed }) => closed).length;
  let beside = 0;
  for (let i = 1; i <= 20; i++) {
    const before = ended();
    await record(db, small);
    void wake();
    await prompt.arrived(i);
    if (ended() === before) beside++;
  }
  // One that had to wait for a place would be sent when a stalling attempt ends. On a slow machine the twelve reach their time limit meanwhile, now and then.
  t.ok(beside >= 5, `${beside} of 20 are sent while no stalling attempt ends`);
  const { subscriptions } = thread.deliveries.stats();
  t.ok(subscriptions <= SUBSCRIPTIONS * 0.75 + 500 + 1, `${subscriptions} are held`);
  await eventually(
    'no more than that share is in flight once the attempts of the other workspace have ended',
    () => thread.deliveries.stats().in_flight,
    (in_flight) => in_flight <= 12,
  );
  over = true;
  for (const response of held) response.writeHead(500).end();
});
