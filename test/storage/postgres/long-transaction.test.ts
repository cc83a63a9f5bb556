import { randomUUID } from 'node:crypto';
import pg from 'pg';
import t from 'tap';
import { v7 as uuidv7 } from 'uuid';
import { startDeliveries } from '../../../storage/deliveries/deliveries.js';
import { dueQueues } from '../../../storage/jobs/job-table.js';
import { openMailboxes } from '../../../storage/operations/mailboxes.js';
import { claimPartitions, renewLeases } from '../../../storage/partitions/partitions.js';
import { openDatabase } from '../../../storage/postgres/database.js';
import { TIME_LIMITS } from '../../../storage/postgres/time-limits.js';
import { countingBlocks } from '../../fixture/blocks-read.js';
import { freshDatabase } from '../../fixture/database.js';
import { insertSimulated, insertWorkspace } from '../../fixture/rows.js';

const PARTITIONS = 64;
const ALL = Array.from({ length: PARTITIONS }, (_, id) => id);
/** Opened and closed since the transaction began, over all queues; delivered to one subscription. */
const MAILBOXES = 12_800;
const DELIVERED = 5_000;

t.test('beside a transaction that stays open a statement reads what was deleted of its own queues alone', async (t) => {
  const { db, url } = await freshDatabase(t);
  const limits = { ...TIME_LIMITS.thread, statement_ms: 60_000 };
  const thread = openDatabase({ url, maxConnections: 2, limits, indexedPlans: true, applicationName: 'thread' });
  t.teardown(() => thread.close());
  const counting = countingBlocks(thread);
  const blocks = async (work: (sql: typeof counting & typeof thread) => Promise<unknown>) => {
    await work(counting as typeof counting & typeof thread);
    return counting.blocks;
  };
  const workspaceId = await insertWorkspace(db);
  const connection = await insertSimulated(db, workspaceId, 'ada');
  const node = randomUUID();
  await renewLeases(db, node, 600_000);
  const owned = await db.transaction((tx) => claimPartitions(tx, node, PARTITIONS, 600_000));
  const mine = owned.filter(({ id }) => id === connection.partition);
  const [busy, quiet] = [uuidv7(), uuidv7()];
  await db.query(
    'testSubscriptions',
    `insert into subscription (id, workspace_id, connection_id, partition, event_types, callback_url, active, secret_sealed)
     select id, $2, $3, $4, '{message_sent}', 'https://example.com/', true, '' from unnest($1::uuid[]) s(id)`,
    [[busy, quiet], workspaceId, connection.id, connection.partition],
  );
  const claim = (id: string) =>
    blocks((sql) =>
      startDeliveries(sql, [
        {
          subscription: { id, partition: connection.partition, epoch: mine[0]!.epoch },
          attemptIds: [randomUUID()],
          from_us: null,
        },
      ]),
    );

  const long = new pg.Client({ connectionString: url });
  await long.connect();
  t.teardown(() => long.end());
  await long.query('begin isolation level repeatable read');
  await long.query('select from workspace');
  await db.query(
    'testMailboxes',
    `insert into pgboss.job_common (id, name, data) select gen_random_uuid(), 'mailbox-' || n % $2, '{}' from generate_series(1, $1) n`,
    [MAILBOXES, PARTITIONS],
  );
  await db.query('testClosed', `delete from pgboss.job_common where name like 'mailbox-%'`);
  await db.query(
    'testDeliveries',
    `insert into delivery (id, workspace_id, subscription_id, event_id, partition, status, next_attempt_at, rank)
     select gen_random_uuid(), $1, $2, gen_random_uuid(), $3, 'pending', now(), n from generate_series(1, $4) n`,
    [workspaceId, busy, connection.partition, DELIVERED],
  );
  await db.query(
    'testDelivered',
    `update delivery set status = 'delivered', delivered_at = now(), next_attempt_at = null where subscription_id = $1`,
    [busy],
  );

  const all = await blocks((sql) => dueQueues(sql, ALL));
  const one = await blocks((sql) => dueQueues(sql, [connection.partition]));
  t.ok(all < 2 * MAILBOXES, `${all} blocks for all queues`);
  t.ok(one < all / 20, `${one} for those of one partition`);
  const opened = await blocks((sql) => openMailboxes(sql, mine, 8));
  t.ok(opened < all / 20, `${opened} to open its mailboxes`);
  const [ofBusy, ofQuiet] = [await claim(busy), await claim(quiet)];
  t.ok(ofBusy < 3 * DELIVERED, `${ofBusy} for a claim of who had many deliveries`);
  t.ok(ofQuiet < ofBusy / 20, `${ofQuiet} for one of who had none`);
});
