import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { LIMITS } from '../../../actors/deliveries/limits.js';
import { stopSubscription } from '../../../storage/connections/stopping.js';
import { setHold } from '../../../storage/deliveries/subscription-hold.js';
import { lockSubscription } from '../../../storage/deliveries/subscriptions.js';
import type { Database, Transaction } from '../../../storage/postgres/database.js';
import { authority } from '../../fixture/certificates.js';
import { freshDatabase } from '../../fixture/database.js';
import { eventually } from '../../fixture/eventually.js';
import { receiver } from '../../fixture/https-receiver.js';
import { type Connection, deliveries, insertConnection, insertSubscription, record } from './delivery-host.js';
import { DeliveryThread } from './delivery-thread.js';

const certificates = await authority();
const onLoopback = await certificates.issue({ ip: '127.0.0.1' });

type Stop = (tx: Transaction, subscription: { id: string; connection: Connection }) => Promise<unknown>;

/** What stops a subscription, how its delivery stands then, and whether it is sent. */
const CASES: { what: string; stop: Stop; status: string; sent: number }[] = [
  {
    what: 'deactivated',
    stop: async (tx, { id, connection }) => {
      await lockSubscription(tx, { id, connection_id: connection.id });
      await stopSubscription(tx, { id, partition: connection.partition, connection_id: connection.id });
    },
    status: 'canceled',
    sent: 0,
  },
  {
    what: 'on hold',
    stop: (tx, { id, connection }) =>
      setHold(tx, { id, connection_id: connection.id, partition: connection.partition }, true),
    status: 'pending',
    sent: 0,
  },
  { what: 'as it was', stop: async () => {}, status: 'delivered', sent: 1 },
];

for (const { what, stop, status, sent } of CASES) {
  t.test(`the answer to a start is late, and its subscription ${what}`, async (t) => {
    const { url, db } = await freshDatabase(t);
    const connection = await insertConnection(db);
    const hook = await receiver(t, onLoopback, (_request, response) => response.writeHead(204).end());
    const id = await insertSubscription(db, connection, hook.url);
    const [started, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let late = true;
    const through = (own: Database): Database => ({
      ...own,
      query: async (name, ...statement) => {
        const rows = await own.query<never>(name, ...statement);
        if (name === 'startDeliveries' && rows.length > 0 && late) {
          late = false;
          started.resolve();
          await answer.promise;
        }
        return rows;
      },
    });
    const thread = await DeliveryThread.start(t, { url, db }, { ca: certificates.ca, through });
    await record(db, connection);
    void thread.wake(connection.partition);
    await started.promise;
    await db.transaction((tx) => stop(tx, { id, connection }));
    await delay(LIMITS.late_start_ms); // the answer is late
    answer.resolve();
    await eventually(
      'nothing of it is under way',
      async () => thread.deliveries.stats(),
      ({ in_flight, subscriptions }) => in_flight + subscriptions === 0,
    );
    t.match(await deliveries(db), [{ status }]);
    t.equal(hook.received.length, sent);
  });
}
