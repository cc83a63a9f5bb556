import t from 'tap';
import { v7 as uuidv7 } from 'uuid';
import { listDeliveries } from '../../../storage/deliveries/deliveries-read.js';
import { listEvents } from '../../../storage/deliveries/events.js';
import { recordEvents } from '../../../storage/deliveries/events-record.js';
import { timeOfId } from '../../../storage/model/id-time.js';
import type { NewEvent } from '../../../storage/model/records.js';
import type { Sql } from '../../../storage/postgres/database.js';
import { freshDatabase } from '../../fixture/database.js';
import { recorded } from '../../fixture/recorded.js';
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
          : recorded(db, workspaceId, batch(i * 3)), // two of each five come again in the next batch
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
  await recorded(db, workspaceId, batch);
  const listed = await listEvents(db, id, 0, 10);
  t.strictSame(
    listed.map((one) => one.provider_event_id),
    came.toReversed(),
  );
});

t.test('one order: by rank, by id, by time, in every filter, however many record at once (EVT-26)', async (t) => {
  const { db } = await freshDatabase(t);
  const workspaceId = await insertWorkspace(db);
  const connection = await insertSimulated(db, workspaceId, 'ada');
  const subscription = await subscribe(db, workspaceId, connection);
  const ahead = uuidv7({ msecs: Date.now() + 3_600_000 });
  for (let round = 0; round < 12; round++) {
    // Ids are drawn before the first of them waits for a connection: the first round meets a list that has not begun.
    await Promise.all(
      Array.from({ length: 8 }, (_, i) =>
        recorded(db, workspaceId, [event(connection.id, `r${round}-${i}a`), event(connection.id, `r${round}-${i}b`)]),
      ),
    );
    if (round === 8) await db.query('testAhead', 'update event_list set id_floor = $1', [ahead]); // by a node whose clock is an hour ahead
  }
  const listed = await listEvents(db, connection.id, 0, 500);
  t.equal(listed.length, 12 * 16);
  const ids = listed.map(({ id }) => id);
  t.strictSame(ids, ids.toSorted().toReversed());
  const times = listed.map(({ received_at }) => received_at.getTime());
  t.strictSame(
    times,
    times.toSorted((a, b) => b - a),
  );
  t.ok(ids[0]! > ahead, 'what comes after an hour ahead is after it');
  t.strictSame(times, ids.map(timeOfId));
  const own = { id: subscription, connection_id: connection.id };
  for (const status of [null, 'pending'] as const) {
    const deliveries = await listDeliveries(db, own, status, 0, 500);
    t.strictSame(
      deliveries.map(({ event_id }) => event_id),
      ids,
      `${status}`,
    );
  }
  for (let i = 0; i + 1 < listed.length; i++) {
    const [newer, older] = [listed[i]!.provider_event_id, listed[i + 1]!.provider_event_id];
    if (newer.endsWith('b'))
      t.equal(older, newer.replace('b', 'a'), 'what came together stands together, in its order');
  }
});

t.test(
  'a repeat, another workspace and a removed connection store nothing, whatever the floor of the list is',
  async (t) => {
    const { db } = await freshDatabase(t);
    const workspaceId = await insertWorkspace(db);
    const { id } = await insertSimulated(db, workspaceId, 'ada');
    const [{ length: first }, { length: repeat }, { length: other }] = [
      await recorded(db, workspaceId, [event(id, 'e1')]),
      await recorded(db, workspaceId, [event(id, 'e1')]),
      await recorded(db, await insertWorkspace(db), [event(id, 'e2')]),
    ];
    await db.query('testRemoved', 'update connection set deleted_at = now() where id = $1', [id]);
    const removed = await recorded(db, workspaceId, [event(id, 'e3')]);
    t.strictSame([first, repeat, other, removed.length], [1, 0, 0, 0]);
    t.strictSame(await ranks(db, 'event_position'), [1]);
  },
);
