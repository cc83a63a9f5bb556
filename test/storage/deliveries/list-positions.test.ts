import t from 'tap';
import { v7 as uuidv7 } from 'uuid';
import { listEvents } from '../../../storage/deliveries/events.js';
import { recordEvents } from '../../../storage/deliveries/events-record.js';
import type { NewEvent } from '../../../storage/model/records.js';
import type { Sql } from '../../../storage/postgres/database.js';
import { freshDatabase } from '../../fixture/database.js';
import { insertSimulated, insertWorkspace } from '../../fixture/rows.js';

const event = (connectionId: string, name: string): NewEvent => ({
  connectionId,
  providerEventId: name,
  type: 'message_received',
  data: { name },
});

async function subscribe(db: Sql, workspaceId: string, connection: { id: string; partition: number }): Promise<string> {
  const id = uuidv7();
  await db.query(
    'testSubscribe',
    `insert into subscription (id, workspace_id, connection_id, partition, event_types, callback_url, active, secret_sealed)
     values ($1, $2, $3, $4, '{message_received}', 'https://receiver.test/', true, '')`,
    [id, workspaceId, connection.id, connection.partition],
  );
  return id;
}

const ranks = async (db: Sql, table: 'event_position' | 'delivery') =>
  (await db.query<{ rank: number }>(`testRanks.${table}`, `select rank from ${table} order by rank`)).map(
    (r) => r.rank,
  );

const oneTo = (n: number) => Array.from({ length: n }, (_, i) => i + 1);

t.test('ranks have no gap however many record at once, with repeats and roll-backs among them', async (t) => {
  const { db } = await freshDatabase(t);
  const workspaceId = await insertWorkspace(db);
  const connection = await insertSimulated(db, workspaceId, 'ada');
  await subscribe(db, workspaceId, connection);
  const batch = (from: number) => Array.from({ length: 5 }, (_, i) => event(connection.id, `e${from + i}`));
  await Promise.all(
    Array.from(
      { length: 24 },
      (_, i) =>
        i % 4 === 3
          ? db
              .transaction(async (tx) => {
                await recordEvents(tx, workspaceId, batch(1_000 + i));
                throw new Error('rolled back');
              })
              .catch((error: Error) => t.equal(error.message, 'rolled back'))
          : recordEvents(db, workspaceId, batch(i * 3)), // two of each five come again in the next batch
    ),
  );
  const [{ count } = { count: 0 }] = await db.query<{ count: number }>('testCount', 'select count(*) from event');
  t.ok(count > 50);
  t.strictSame(await ranks(db, 'event_position'), oneTo(count));
  t.strictSame(await ranks(db, 'delivery'), oneTo(count));
});

t.test('events are listed in the order in which they came, whatever the provider calls them', async (t) => {
  const { db } = await freshDatabase(t);
  const workspaceId = await insertWorkspace(db);
  const { id } = await insertSimulated(db, workspaceId, 'ada');
  const came = ['m', 'z', 'a', 'k'];
  const batch = came.map((name) => event(id, name));
  await recordEvents(db, workspaceId, batch);
  const listed = await listEvents(db, id, 0, 10);
  t.strictSame(
    listed.map((one) => one.provider_event_id),
    came.toReversed(),
  );
});
