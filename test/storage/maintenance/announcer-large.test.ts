import t, { type Test } from 'tap';
import { createLogger } from '../../../storage/log/log.js';
import { announcer } from '../../../storage/maintenance/announcer.js';
import { openDatabase } from '../../../storage/postgres/database.js';
import { TIME_LIMITS } from '../../../storage/postgres/time-limits.js';
import { freshDatabase } from '../../fixture/database.js';
import { insertSimulated, insertWorkspace } from '../../fixture/rows.js';
import { longTest } from '../../fixture/size.js';

t.setTimeout(120_000);

/** Less than a node allows, so that fewer rows reach it. */
const limits = { ...TIME_LIMITS.edge, statement_ms: 650 };

/**
 * The ends of so many operations at a connection with so many subscriptions: more deliveries than one statement can store. Meanwhile an
 * operation of another workspace ends.
 */
async function scenario(t: Test, subscriptions: number, finished: number, slow = false) {
  const { db, url } = await freshDatabase(t);
  const edge = openDatabase({ url, maxConnections: 4, limits, applicationName: 'edge', onError: () => {} });
  t.teardown(() => edge.close());
  const connection = await insertSimulated(db, await insertWorkspace(db), 'ada');
  const neighbour = await insertSimulated(db, await insertWorkspace(db), 'bob');
  const subscribe = (id: string, count: number) =>
    db.query(
      'testSubscriptions',
      `insert into subscription (id, workspace_id, connection_id, partition, event_types, callback_url, active, secret_sealed)
       select gen_random_uuid(), workspace_id, id, partition, '{operation.finished}', 'https://example.com/', true, ''
       from connection, generate_series(1, $2) where id = $1`,
      [id, count],
    );
  await subscribe(connection.id, subscriptions);
  await subscribe(neighbour.id, 1);
  const finish = async (id: string, count: number) => {
    await db.query(
      'testRunning',
      `insert into operation (id, workspace_id, connection_id, partition, capability, status, idempotency_key, fingerprint, input, epoch)
       select gen_random_uuid(), workspace_id, id, partition, 'social.identity.get', 'running', gen_random_uuid()::text, '', '{}', 1
       from connection, generate_series(1, $2) where id = $1`,
      [id, count],
    );
    await db.query(
      'testEnd',
      `update operation set status = 'succeeded', result = '{}' where connection_id = $1 and status = 'running'`,
      [id],
    );
  };
  await finish(connection.id, finished);
  if (slow) {
    await db.query(
      'testSlow',
      'create function slow() returns trigger language plpgsql as $$ begin perform pg_sleep(1); return new; end $$',
    );
    await db.query(
      'testTrap',
      `create trigger trap before insert on event for each row when (new.connection_id = '${connection.id}') execute function slow()`,
    );
  }
  const all = Promise.withResolvers<void>();
  const told: string[] = [];
  let before = 0; // statements that told others of theirs before the neighbour
  const telling = announcer({
    db: edge,
    log: createLogger({ level: 'silent', format: 'json' }, {}),
    recorded: (events) => {
      if (!told.includes(neighbour.id) && !events.some((event) => event.connection_id === neighbour.id)) before++;
      told.push(...events.map(({ connection_id }) => connection_id));
      if (told.length === finished + 1) all.resolve();
    },
  });
  await finish(neighbour.id, 1); // the last one of the batch that fails
  telling.start();
  await all.promise;
  await telling.stop();
  t.ok(before <= 1, 'a neighbour waits for one statement of them at most');
  const [row] = await db.query<{ events: number; deliveries: number; left: number }>(
    'testTold',
    `select (select count(*) from event)::int as events, (select count(*) from delivery)::int as deliveries,
       (select count(*) from announcement)::int as left`,
  );
  t.strictSame(row, { events: finished + 1, deliveries: finished * subscriptions + 1, left: 0 });
}

t.test('20 ends, 1000 subscriptions', (t) => scenario(t, 1_000, 20));
longTest(t, '100 ends, 200 subscriptions', (t) => scenario(t, 200, 100));
longTest(t, '3 ends, of which each takes longer than a statement may', (t) => scenario(t, 1, 3, true));
