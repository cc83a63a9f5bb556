import { randomUUID } from 'node:crypto';
import t from 'tap';
import { v7 as uuidv7 } from 'uuid';
import type { Sql } from '../../storage/database.js';
import { recordEvents } from '../../storage/events-record.js';
import { oldestPending } from '../../storage/oldest-pending.js';
import { freshDatabase } from '../fixture/database.js';
import { insertSimulated, insertWorkspace } from '../fixture/rows.js';

/** A delivery whose job was made so long ago; gives its id. */
async function pending(db: Sql, workspaceId: string, connectionId: string, age_s: number): Promise<string> {
  const event = { connectionId, providerEventId: randomUUID(), type: 'message_received' as const, data: {} };
  await recordEvents(db, workspaceId, [event]);
  const [row] = await db.query<{ id: string }>(
    'testAge',
    `update pgboss.job_common set created_on = now() - $1 * interval '1 second'
     where id = (select id from delivery order by rank desc limit 1) returning id::text`,
    [age_s],
  );
  return row?.id ?? '';
}

t.test('the oldest pending delivery is found wherever it waits, by the time it was recorded', async (t) => {
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
  t.equal(await oldestPending(db, all, []), 0, 'nothing waits');
  await pending(db, workspaceId, connection.id, 30);
  const oldest = await pending(db, workspaceId, connection.id, 90);
  await pending(db, workspaceId, connection.id, 60);
  const about = async (age_s: number, held: string[] = [], partitions = all) => {
    const measured = await oldestPending(
      db,
      partitions,
      held.map((id) => ({ id, partition: connection.partition })),
    );
    t.ok(measured >= age_s && measured < age_s + 20, `${measured} is about ${age_s}`);
  };
  await about(90);
  await db.query('testPutOff', `update pgboss.job_common set start_after = now() + interval '1 hour' where id = $1`, [
    oldest,
  ]);
  await about(90);
  await db.query('testFetch', `update pgboss.job_common set state = 'active' where id = $1`, [oldest]);
  await about(60);
  await about(90, [oldest, randomUUID()]);
  t.equal(
    await oldestPending(
      db,
      all.filter((partition) => partition !== connection.partition),
      [],
    ),
    0,
    'of these partitions only',
  );
});
