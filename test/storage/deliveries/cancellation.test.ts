import t from 'tap';
import { cancelOpenDeliveries } from '../../../storage/deliveries/cancellation.js';
import { freshDatabase } from '../../fixture/database.js';
import { insertSimulated, insertWorkspace } from '../../fixture/rows.js';

const DELIVERIES = 50_000;

t.test('canceling reads the deliveries it cancels, whatever else the table holds', async (t) => {
  const { db } = await freshDatabase(t);
  const { id } = await insertSimulated(db, await insertWorkspace(db), 'ada');
  // One subscription has almost every delivery, as the planner then expects of any.
  await db.query(
    'testSubscriptions',
    `insert into subscription (id, workspace_id, connection_id, partition, event_types, callback_url, active, secret_sealed)
     select gen_random_uuid(), c.workspace_id, c.id, c.partition, '{message_received}', 'https://127.0.0.1/', n = 1, ''
     from connection c, generate_series(1, 60) n where c.id = $1`,
    [id],
  );
  await db.query(
    'testDeliveries',
    `insert into delivery (id, workspace_id, subscription_id, event_id, partition, status, next_attempt_at, rank)
     select gen_random_uuid(), s.workspace_id, s.id, gen_random_uuid(), s.partition, 'pending', now(), n
     from subscription s cross join lateral generate_series(1, case when s.active then $1::integer else 2 end) n`,
    [DELIVERIES],
  );
  await db.query('testAnalyze', 'analyze delivery');
  await db.transaction(async (tx) => {
    t.equal(await cancelOpenDeliveries(tx, id, 500), 2 * 59);
    const [{ read } = { read: Number.NaN }] = await tx.query<{ read: number }>(
      'testRead',
      `select seq_tup_read as read from pg_stat_xact_user_tables where relname = 'delivery'`,
    );
    t.equal(read, 0, 'no row was read in search of them');
  });
});
