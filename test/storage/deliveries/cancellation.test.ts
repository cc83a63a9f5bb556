import t from 'tap';
import { cancelOpenDeliveries } from '../../../storage/deliveries/cancellation.js';
import { freshDatabase } from '../../fixture/database.js';
import { insertSimulated, insertWorkspace } from '../../fixture/rows.js';
import { rowsRead } from '../../fixture/rows-read.js';
import { sized } from '../../fixture/size.js';

const DELIVERIES = sized(10_000, 50_000);
const CANCELED = 2 * 59;

const CASES = [
  { inactive: 59, analysed: 'after' },
  { inactive: 1, analysed: 'before' },
] as const;

for (const { inactive, analysed } of CASES) {
  t.test(
    `canceling for ${inactive} subscriptions reads what it cancels, analysed ${analysed} all was pending`,
    async (t) => {
      const { db } = await freshDatabase(t);
      const { id } = await insertSimulated(db, await insertWorkspace(db), 'ada');
      // One subscription has almost every delivery, as the planner then expects of any.
      await db.query(
        'testSubscriptions',
        `insert into subscription (id, workspace_id, connection_id, partition, event_types, callback_url, active, secret_sealed)
       select gen_random_uuid(), c.workspace_id, c.id, c.partition, '{message_received}', 'https://127.0.0.1/', n = 1, ''
       from connection c, generate_series(1, $2::integer) n where c.id = $1`,
        [id, 1 + inactive],
      );
      await db.query(
        'testDeliveries',
        `insert into delivery (id, workspace_id, subscription_id, event_id, partition, status, rank)
       select gen_random_uuid(), s.workspace_id, s.id, gen_random_uuid(), s.partition, 'failed', n
       from subscription s cross join lateral generate_series(1, case when s.active then $1::integer else $2::integer end) n`,
        [DELIVERIES, CANCELED / inactive],
      );
      if (analysed === 'before') await db.query('testAnalyze', 'analyze delivery');
      await db.query('testPending', `update delivery set status = 'pending', next_attempt_at = now()`);
      if (analysed === 'after') await db.query('testAnalyze', 'analyze delivery');
      await db.transaction(async (tx) => {
        const { given, scanned, found } = await rowsRead(tx, 'delivery', () => cancelOpenDeliveries(tx, [id], 500));
        t.equal(given, CANCELED);
        t.equal(scanned, 0, 'no row was read in search of them');
        t.ok(found < 10 * CANCELED, `${found} rows were found by an index`);
      });
    },
  );
}
