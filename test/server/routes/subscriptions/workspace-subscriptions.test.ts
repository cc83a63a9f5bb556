import { randomUUID } from 'node:crypto';
import t from 'tap';
import { listDeliveries } from '../../../../storage/deliveries/deliveries-read.js';
import { subscriptionStats } from '../../../../storage/deliveries/subscription-stats.js';
import {
  countDeliveries,
  listWorkspaceSubscriptions,
  type SubscriptionFilter,
} from '../../../../storage/deliveries/subscriptions.js';
import type { DeliveryStatus } from '../../../../storage/model/records.js';
import type { Database } from '../../../../storage/postgres/database.js';
import { LIST_START } from '../../../../storage/postgres/list-place.js';
import { countingBlocks } from '../../../fixture/blocks-read.js';
import { freshDatabase } from '../../../fixture/database.js';
import { eventually } from '../../../fixture/eventually.js';
import { insertSimulated, insertWorkspace } from '../../../fixture/rows.js';
import { rowsRead } from '../../../fixture/rows-read.js';
import { longTest } from '../../../fixture/size.js';
import { type Fields, startTestEdge } from '../../edge-fixture.js';
import { insertConnections, insertDeliveries } from '../../rows.js';

/** For a page of 101: where a filter leaves out few rows, the index without it is as good. */
const MOST_READ = 125;

/** One for each connection of the workspace, of which each seventh gets no events. */
async function subscribeAll(db: Database, workspaceId: string): Promise<void> {
  await db.query(
    'testSubscriptions',
    `insert into subscription (id, workspace_id, connection_id, partition, event_types, callback_url, active, secret_sealed, created_at)
     select gen_random_uuid(), c.workspace_id, c.id, c.partition, '{message_received}', 'https://receiver.test/',
       row_number() over (order by c.created_at, c.id) % 7 > 0, '',
       now() + row_number() over (order by c.created_at, c.id) * interval '1 millisecond'
     from connection c where c.workspace_id = $1`,
    [workspaceId],
  );
}

t.test(
  'the subscriptions of all connections are listed page by page, with filters, and of no other workspace',
  async (t) => {
    const edge = await startTestEdge(t);
    const { db, workspaceId } = edge;
    await insertConnections(db, workspaceId, 30);
    await subscribeAll(db, workspaceId);
    const elsewhere = await insertWorkspace(db);
    await insertConnections(db, elsewhere, 3);
    await subscribeAll(db, elsewhere);
    const rows = await db.query<{ id: string; connection_id: string; active: boolean }>(
      'testRows',
      'select id, connection_id, active from subscription where workspace_id = $1 order by created_at, id',
      [workspaceId],
    );
    const ids = (kept: (row: (typeof rows)[number]) => boolean) => rows.filter(kept).map(({ id }) => id);
    const pages = async (query: string) => {
      const listed: string[] = [];
      for (let cursor = ''; ; ) {
        const { json } = await edge.call('GET', `/v1/subscriptions?limit=4${query}${cursor}`);
        if (listed.length > 0 && json.subscriptions.length === 0) throw new Error('an empty page behind the last row');
        listed.push(...json.subscriptions.map(({ id }: Fields) => id));
        if (json.next_cursor === null) return listed;
        cursor = `&cursor=${json.next_cursor}`;
      }
    };
    const [first] = rows;
    t.strictSame(
      await pages(''),
      ids(() => true),
    );
    t.strictSame(
      await pages('&active=true'),
      ids(({ active }) => active),
    );
    t.strictSame(
      await pages('&active=false'),
      ids(({ active }) => !active),
    );
    t.strictSame(await pages(`&connection_id=${first?.connection_id}`), [first?.id]);
    t.strictSame(await pages(`&connection_id=${first?.connection_id}&active=false`), []);
    const whole = await edge.call('GET', '/v1/subscriptions');
    t.strictSame(
      whole.json.subscriptions.map(({ id }: Fields) => id),
      ids(() => true),
      'without limit and cursor it is the whole list',
    );
    await db.query('testGone', 'update connection set deleted_at = now() where id = $1', [first?.connection_id]);
    t.strictSame(
      await pages(''),
      ids(({ id }) => id !== first?.id),
      'those of a deleted connection are hidden with it',
    );
  },
);

longTest(t, 'a page of many subscriptions reads about as many rows as it shows', async (t) => {
  const { db } = await freshDatabase(t);
  const workspaceId = await insertWorkspace(db);
  await insertConnections(db, workspaceId, 20_000);
  await subscribeAll(db, workspaceId);
  await db.query('testAnalyze', 'analyze subscription, connection, callback_pause');
  const any: SubscriptionFilter = { connectionId: null, active: null };
  const behind = (await listWorkspaceSubscriptions(db, workspaceId, any, LIST_START, 10_000)).at(-1)!;
  for (const filter of [any, { ...any, active: true }, { ...any, active: false }]) {
    const read = await db.transaction((tx) =>
      rowsRead(tx, 'subscription', () => listWorkspaceSubscriptions(tx, workspaceId, filter, behind, 101)),
    );
    t.ok(read.scanned === 0 && read.found <= MOST_READ, `${JSON.stringify(filter)}: ${read.found} rows`);
    t.equal(read.given.length, 101);
  }
  const { id } = await insertSimulated(db, workspaceId, 'ann');
  await db.query('testMove', 'update subscription set connection_id = $1 where id = $2', [id, behind.id]);
  const own = await db.transaction((tx) =>
    rowsRead(tx, 'subscription', () =>
      listWorkspaceSubscriptions(tx, workspaceId, { connectionId: id, active: null }, LIST_START, 101),
    ),
  );
  t.match(own, { scanned: 0, found: 1, given: [{ id: behind.id }] });
});

t.test('deliveries tell of their event, and reading them costs what is shown', async (t) => {
  const { db } = await freshDatabase(t);
  const workspaceId = await insertWorkspace(db);
  await insertConnections(db, workspaceId, 1);
  await subscribeAll(db, workspaceId);
  const [subscription] = await db.query<{ id: string; connection_id: string }>(
    'testSubscription',
    'select id, connection_id from subscription',
  );
  const { id } = subscription!;
  await insertDeliveries(
    db,
    id,
    Array.from({ length: 3_000 }, (_, n) => (n % 5 ? 'delivered' : 'failed')),
  );
  await db.query('testAnalyze', 'analyze event, delivery, subscription');
  for (const status of [null, 'failed'] as const) {
    const read = await db.transaction((tx) =>
      rowsRead(tx, 'event', () => listDeliveries(tx, subscription!, status, 200, 101)),
    );
    t.ok(read.scanned === 0 && read.found <= MOST_READ, `${status}: ${read.found} rows`);
    t.match(read.given[0], { event_type: 'message_received', received_at: Date });
  }
});

/** A subscription of all connections, with a member of each of these. */
async function memberOf(
  db: Database,
  workspaceId: string,
  connections = 1,
): Promise<{ parent: string; member: string }> {
  const parent = randomUUID();
  await db.query(
    'testParent',
    `insert into subscription (id, workspace_id, event_types, callback_url, active, secret_sealed)
     values ($1, $2, '{message_received}', 'https://receiver.test/', true, '')`,
    [parent, workspaceId],
  );
  await insertConnections(db, workspaceId, connections);
  const [made] = await db.query<{ id: string }>('testMember', 'select id from subscription where parent_id = $1', [
    parent,
  ]);
  return { parent, member: made!.id };
}

t.test('a deleted connection is hidden from the subscription of all with the answer', async (t) => {
  const edge = await startTestEdge(t);
  const { db, workspaceId } = edge;
  const { parent, member } = await memberOf(db, workspaceId, 2);
  const members = await db.query<{ id: string; connection_id: string }>(
    'testMembers',
    'select id, connection_id from subscription where parent_id = $1',
    [parent],
  );
  for (const { id } of members) await insertDeliveries(db, id, ['delivered', 'failed', 'pending']);
  await db.query('testParents', 'update delivery set parent_id = $1', [parent]);
  const seen = async () => {
    const listed = await edge.call('GET', `/v1/subscriptions/${parent}/deliveries`);
    const failed = await edge.call('GET', `/v1/subscriptions/${parent}/deliveries?status=failed`);
    const stats = await subscriptionStats(db, parent);
    const counted = await countDeliveries(db, { id: parent, connection_id: null });
    return [listed.json.deliveries.length, failed.json.deliveries.length, stats?.counts.failed, counted.delivered];
  };
  t.strictSame(await seen(), [6, 2, 2, 2]);
  const gone = members.find(({ id }) => id === member);
  t.equal((await edge.call('DELETE', `/v1/connections/${gone?.connection_id}`)).status, 204);
  t.strictSame(await seen(), [3, 1, 1, 1]);
});

longTest(t, 'counting and listing deliveries costs no more however many were delivered before', async (t) => {
  const { db } = await freshDatabase(t);
  const mixed: DeliveryStatus[] = [
    ...new Array<DeliveryStatus>(7).fill('pending'),
    'failed',
    'failed',
    'canceled',
    'sending',
  ];
  const cost = async (delivered: number) => {
    const workspaceId = await insertWorkspace(db);
    const { parent, member } = await memberOf(db, workspaceId);
    await insertDeliveries(db, member, new Array<DeliveryStatus>(delivered).fill('delivered'));
    await insertDeliveries(db, member, mixed);
    await db.query('testParents', 'update delivery set parent_id = $1 where subscription_id = $2', [parent, member]);
    await db.query(
      'testErase',
      `with gone as (
         delete from delivery where id in (select id from delivery where subscription_id = $1 and status = 'delivered' limit 100)
         returning subscription_id
       ) insert into erased_deliveries select subscription_id, count(*) from gone group by 1`,
      [member],
    );
    // Whoever holds a snapshot in which rows of these pages are not yet seen by all is named when it does not end.
    await eventually(
      'every page of the deliveries is seen by all',
      async () => {
        await db.query('testVacuum', 'vacuum analyze delivery');
        return db.query<{ left: number }>(
          'testVisible',
          `select relpages - relallvisible as left,
             (select array_agg(backend_type || ': ' || query) from pg_stat_activity
              where datname = current_database() and backend_xmin is not null and pid <> pg_backend_pid()) as held_by
           from pg_class where oid = 'delivery'::regclass`,
        );
      },
      ([pages]) => pages?.left === 0,
    );
    const [connection] = await db.query<{ connection_id: string }>(
      'testConnection',
      'select connection_id from subscription where id = $1',
      [member],
    );
    const sql = countingBlocks(db);
    const blocks: number[] = [];
    const counted = { pending: 7, sending: 1, failed: 2, canceled: 1, delivered: delivered - 100 };
    for (const subscription of [
      { id: parent, connection_id: null },
      { id: member, connection_id: connection!.connection_id },
    ]) {
      t.strictSame(await countDeliveries(sql, subscription), counted);
      blocks.push(sql.blocks);
    }
    const offset = delivered - 300;
    const { given: page, ...read } = await db.transaction((tx) =>
      rowsRead(tx, 'delivery', () => listDeliveries(tx, { id: parent, connection_id: null }, null, offset, 101)),
    );
    t.ok(read.scanned === 0 && read.found <= MOST_READ, `${JSON.stringify(read)} rows read`);
    t.strictSame([page.length, page[0]?.place, page[0]?.subscription_id], [101, offset, parent]);
    const listed = await listDeliveries(db, { id: parent, connection_id: null }, null, offset + 50, 51);
    t.strictSame(
      listed.map(({ id }) => id),
      page.slice(50).map(({ id }) => id),
    );
    // Nothing is shown of a connection that is being removed, however much of it is left.
    await db.query('testRemove', 'update connection set deleted_at = now() where id = $1', [connection!.connection_id]);
    t.match(await countDeliveries(db, { id: parent, connection_id: null }), { pending: 0, delivered: 0 });
    return blocks;
  };
  const few = await cost(2_000);
  const many = await cost(20_000);
  t.comment(JSON.stringify({ few, many }));
  for (const [i, blocks] of many.entries()) t.ok(blocks < few[i]! + 20, `${blocks} blocks`);
});
