import t from 'tap';
import { fillHistory } from '../../../bench/kit/history.js';
import { stopRest, stopWork } from '../../../storage/connections/stopping.js';
import { LIMITS } from '../../../storage/limits.js';
import { insertConnection, insertSubscription } from '../../actors/deliveries/delivery-host.js';
import { freshDatabase } from '../../fixture/database.js';
import { insertSimulated, insertWorkspace } from '../../fixture/rows.js';
import { rowsRead } from '../../fixture/rows-read.js';
import { insertDeliveries, insertQueue } from '../../server/rows.js';

const HISTORY = 20_000;
const QUEUED = 5_000;

t.test('a page of a long queue costs that page, beside a history and a queue of another', async (t) => {
  const { db } = await freshDatabase(t);
  const { id, partition } = await insertSimulated(db, await insertWorkspace(db), 'ann');
  const other = await insertSimulated(db, await insertWorkspace(db), 'bob');
  // Analysed before anything is queued, so that the planner expects no such operation.
  await fillHistory(db, id, HISTORY);
  await insertQueue(db, id, QUEUED);
  await insertQueue(db, other.id, QUEUED);
  const connection = { id, partition, reason: 'connection_disconnected' } as const;

  await db.transaction(async (tx) => {
    const { given, scanned, found } = await rowsRead(tx, 'operation', () => stopWork(tx, connection));
    t.equal(given, false);
    t.equal(scanned, 0, 'no row was read in search of them');
    t.ok(found < 4 * LIMITS.removal_rows, `${found} rows were found by an index`);
  });
  t.equal(await stopRest(db, connection, () => false), true);
  const left = await db.query(
    'testQueued',
    `select connection_id, count(*)::integer as queued from operation where status = 'queued' group by 1`,
  );
  t.strictSame(left, [{ connection_id: other.id, queued: QUEUED }]);
});

t.test('what a later stop leaves under the same mark is not forgotten with it', async (t) => {
  const { db } = await freshDatabase(t);
  const connection = await insertConnection(db);
  const subscription = await insertSubscription(db, connection, 'https://receiver.test/');
  await insertQueue(db, connection.id, LIMITS.removal_rows + 1);
  const stopping = { id: connection.id, partition: connection.partition, reason: 'connection_disconnected' } as const;
  await db.transaction((tx) => stopWork(tx, stopping));
  let asked = 0;
  // The deliveries are through at the second question, and the queue is gone through under the mark.
  const later = async () => {
    if (++asked === 2) await insertDeliveries(db, subscription, new Array(LIMITS.removal_rows).fill('pending'));
    return false;
  };
  t.equal(await stopRest(db, stopping, later), false, 'somebody has to go on');
  t.equal(await stopRest(db, stopping, () => false), true);
  t.strictSame(
    await db.query('testDeliveries', `select status from delivery where status <> 'canceled'`),
    [],
    'and then all are canceled',
  );
});
