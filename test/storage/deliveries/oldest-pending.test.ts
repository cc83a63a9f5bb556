import { randomUUID } from 'node:crypto';
import t from 'tap';
import { v7 as uuidv7 } from 'uuid';
import { oldestPending } from '../../../storage/deliveries/oldest-pending.js';
import type { Database } from '../../../storage/postgres/database.js';
import { freshDatabase } from '../../fixture/database.js';
import { fetchAllJobs } from '../../fixture/jobs.js';
import { recorded } from '../../fixture/recorded.js';
import { insertSimulated, insertWorkspace } from '../../fixture/rows.js';

/** A delivery of an event that was received so long ago; gives its id. */
async function pending(db: Database, workspaceId: string, connectionId: string, age_s: number): Promise<string> {
  const event = { connectionId, providerEventId: randomUUID(), type: 'message_received' as const, data: {} };
  await recorded(db, workspaceId, [event]);
  // Ids carry the time, which is the age in the index.
  const id = uuidv7({ msecs: Date.now() - age_s * 1_000 });
  const [row] = await db.query<{ id: string }>(
    'testAge',
    `with aged as (
       insert into event (id, workspace_id, connection_id, provider_event_id, type, received_at, data)
       select $2::uuid, workspace_id, connection_id, 'aged-' || $2::text, type, now() - $1 * interval '1 second', data
       from event where provider_event_id = $3 returning id)
     update delivery set event_id = aged.id from aged
     where event_id = (select id from event where provider_event_id = $3) returning delivery.id::text`,
    [age_s, id, event.providerEventId],
  );
  return row?.id ?? '';
}

t.test('the oldest pending delivery is found wherever it waits, by when its event was received', async (t) => {
  const { db } = await freshDatabase(t);
  const workspaceId = await insertWorkspace(db);
  const connection = await insertSimulated(db, workspaceId, 'ada');
  await db.query(
    'testSubscribe',
    `insert into subscription (id, workspace_id, connection_id, partition, event_types, callback_url, active, secret_sealed)
     values ($1, $2, $3, $4, '{message_received}', 'https://receiver.test/', true, '')`,
    [uuidv7(), workspaceId, connection.id, connection.partition],
  );
  const all = Array.from({ length: 64 }, (_, i) => i);
  t.equal(await oldestPending(db, all), 0, 'nothing waits');
  await pending(db, workspaceId, connection.id, 30);
  const oldest = await pending(db, workspaceId, connection.id, 90);
  await pending(db, workspaceId, connection.id, 60);
  const about = async (age_s: number) => {
    const measured = await oldestPending(db, all);
    t.ok(measured >= age_s && measured < age_s + 20, `${measured} is about ${age_s}`);
  };
  await about(90);
  await db.query(
    'testSending',
    `update delivery set status = 'sending', next_attempt_at = null, epoch = 1 where id = $1`,
    [oldest],
  );
  await about(90);
  await fetchAllJobs(db);
  await about(90);
  await db.query('testEnd', `update delivery set status = 'failed' where id = $1`, [oldest]);
  await about(60);
  const others = all.filter((partition) => partition !== connection.partition);
  t.equal(await oldestPending(db, others), 0, 'of these partitions only');
});
