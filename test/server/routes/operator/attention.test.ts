import t from 'tap';
import { v7 as uuidv7 } from 'uuid';
import { LIMITS } from '../../../../storage/limits.js';
import {
  exhaustedSubscriptions,
  expiringKeys,
  heldSubscriptions,
  pausedSubscriptions,
  unknownOutcomes,
  unreadyConnections,
  waitingOperations,
} from '../../../../storage/overview/attention.js';
import type { Database, Sql } from '../../../../storage/postgres/database.js';
import { createOperator } from '../../../../storage/workspaces/operators.js';
import { countingBlocks } from '../../../fixture/blocks-read.js';
import { freshDatabase } from '../../../fixture/database.js';
import { insertSimulated, insertWorkspace } from '../../../fixture/rows.js';
import { longTest } from '../../../fixture/size.js';
import { insertKey, startTestEdge } from '../../edge-fixture.js';
import { insertConnections, insertDeliveries, insertOperations, putOperation } from '../../rows.js';

async function subscribe(db: Sql, connectionId: string, destination = '\\x01'): Promise<string> {
  const id = uuidv7();
  await db.query(
    'testSubscription',
    `insert into subscription (id, workspace_id, connection_id, partition, event_types, callback_url, active, secret_sealed, destination)
     select $2, workspace_id, id, partition, '{message_received}', 'https://receiver.test/', true, '', $3 from connection where id = $1`,
    [connectionId, id, destination],
  );
  return id;
}

async function operationsOf(db: Sql, connectionId: string, count: number): Promise<string[]> {
  await insertOperations(db, connectionId, count);
  const rows = await db.query<{ id: string }>(
    'testNewest',
    'select id from operation where connection_id = $1 order by id desc limit $2',
    [connectionId, count],
  );
  await db.query('testQueued', `update operation set status = 'queued', result = null where id = any($1)`, [
    rows.map(({ id }) => id),
  ]);
  return rows.map(({ id }) => id);
}

/** One of everything that somebody has to look at. */
async function troubled(db: Database, workspaceId: string) {
  const { id: connection } = await insertSimulated(db, workspaceId, `ann-${workspaceId}`);
  const [unknown = '', waiting = ''] = await operationsOf(db, connection, 2);
  await putOperation(db, unknown, 'outcome_unknown');
  await putOperation(db, waiting, 'waiting_user');
  const subscription = await subscribe(db, connection);
  await insertDeliveries(db, subscription, ['failed', 'delivered', 'failed']);
  await db.query('testError', `update delivery set last_error = 'status_500' where subscription_id = $1`, [
    subscription,
  ]);
  await db.query(
    'testPause',
    `insert into callback_pause (destination, reason) values ('\\x01', 'timeout') on conflict do nothing`,
  );
  const { id: idle } = await insertSimulated(db, workspaceId, `bob-${workspaceId}`);
  await db.query(
    'testUnready',
    `update connection set health = 'needs_login', health_reason = 'disconnected' where id = $1`,
    [idle],
  );
  await db.query('testHeld', 'update subscription set on_hold = true where id = $1', [subscription]);
  await db.query('testHeldSince', `update subscription set held_at = held_at - interval '25 hours' where id = $1`, [
    subscription,
  ]);
  await db.query(
    'testExpiring',
    `update api_key set expires_at = now() + interval '3 days', name = 'backend' where workspace_id = $1`,
    [workspaceId],
  );
  return { unknown, waiting, subscription, idle };
}

t.test('what needs somebody is told with its cause, the worst first, of the own workspace alone', async (t) => {
  const edge = await startTestEdge(t, { keyExpiryWarningDays: 4 });
  const { db, workspaceId } = edge;
  t.strictSame((await edge.call('GET', '/v1/attention')).json, { attention: [] });
  const { unknown, waiting, subscription, idle } = await troubled(db, workspaceId);
  const stranger = await insertWorkspace(db);
  await troubled(db, stranger);
  const { status, json } = await edge.call('GET', '/v1/attention');
  t.equal(status, 200);
  t.match(json.attention, [
    {
      kind: 'outcome_unknown',
      severity: 'critical',
      count: 1,
      entries: [{ id: unknown, cause: /social.profile.get/ }],
    },
    {
      kind: 'operation_waiting',
      count: 1,
      entries: [{ id: waiting, cause: /e-mail/, path: `/v1/operations/${waiting}` }],
    },
    { kind: 'connection_unready', count: 1, entries: [{ id: idle, cause: 'It was disconnected.' }] },
    { kind: 'deliveries_exhausted', count: 1, entries: [{ id: subscription, cause: /status_500/ }] },
    { kind: 'destination_paused', count: 1, entries: [{ id: subscription, cause: /timeout/ }] },
    { kind: 'subscription_held', severity: 'notice', count: 1, entries: [{ id: subscription, cause: /on hold/ }] },
    { kind: 'key_expiring', severity: 'notice', count: 1, more: false, entries: [{ name: 'backend' }] },
  ]);
  t.equal((await expiringKeys(db, workspaceId, 2)).count, 0, 'a key is told of as long before its end as is set');
  t.equal((await expiringKeys(db, workspaceId, 0)).count, 0, 'with 0 never');

  await db.query('testLooked', `update operation set evidence_look = '{}' where id = $1`, [unknown]);
  await putOperation(db, waiting, 'canceled');
  await db.query('testReady', `update connection set health = 'ready' where id = $1`, [idle]);
  await db.query(
    'testReplay',
    `update delivery set status = 'pending' where subscription_id = $1 and status = 'failed'`,
    [subscription],
  );
  await db.query('testResumed', 'delete from callback_pause');
  await db.query('testReleased', 'update subscription set on_hold = false');
  await db.query('testKept', 'update api_key set expires_at = null where workspace_id = $1', [workspaceId]);
  t.strictSame((await edge.call('GET', '/v1/attention')).json, { attention: [] }, 'what was put right is gone');
});

t.test('a key is told of what it may read alone', async (t) => {
  const edge = await startTestEdge(t);
  await troubled(edge.db, edge.workspaceId);
  const key = await insertKey(edge.db, edge.workspaceId, ['operations:read', 'connections:read']);
  const { json } = await edge.call('GET', '/v1/attention', { key });
  t.strictSame(
    (json.attention as { kind: string }[]).map(({ kind }) => kind),
    ['outcome_unknown', 'operation_waiting', 'connection_unready'],
  );
});

t.test(
  'an operator is told of the installation: nobody runs its partitions, a node is silent, a proxy is idle',
  async (t) => {
    const edge = await startTestEdge(t);
    const { db } = edge;
    const { key } = await createOperator(db, 'Grace', null);
    await db.query('testNode', `insert into node (id, heartbeat_at) values ($1, now() - interval '6 seconds')`, [
      uuidv7(),
    ]);
    await db.query(
      'testProxy',
      `insert into regional_proxy (id, region, url) values ($1, 'DE', 'http://proxy.test:1')`,
      [uuidv7()],
    );
    const { json } = await edge.call('GET', '/v1/operator/attention', { key });
    t.match(json.attention, [
      { kind: 'partition_unowned', severity: 'critical', count: 64 },
      { kind: 'node_silent', count: 1 },
      { kind: 'proxy_unused', entries: [{ name: 'DE' }] },
    ]);
    t.equal((json.attention as { entries: object[] }[])[0]?.entries.length, LIMITS.attention_shown);
  },
);

longTest(t, 'it costs the same however much there is', async (t) => {
  const { db } = await freshDatabase(t);
  const cost = async (size: number) => {
    const workspaceId = await insertWorkspace(db);
    const { id } = await insertSimulated(db, workspaceId, 'ann');
    await insertConnections(db, workspaceId, size);
    await insertOperations(db, id, 10 * size);
    const subscription = await subscribe(db, id);
    await insertDeliveries(
      db,
      subscription,
      Array.from({ length: size }, () => 'failed'),
    );
    await troubled(db, workspaceId);
    for (const table of ['operation', 'connection', 'delivery', 'subscription', 'event', 'delivery_attempt'])
      await db.query(`analyze ${table}`, `analyze ${table}`);
    const sql = countingBlocks(db);
    const blocks = [];
    for (const find of [
      ...[unknownOutcomes, waitingOperations, unreadyConnections],
      ...[exhaustedSubscriptions, pausedSubscriptions, heldSubscriptions, expiringKeys],
    ]) {
      const { count } = await find(sql, workspaceId, 14);
      t.ok(count <= 2, `${count}`);
      blocks.push(sql.blocks);
    }
    return blocks;
  };
  const few = await cost(200);
  const many = await cost(Number(process.env.ATTENTION_ROWS ?? 6_000));
  t.comment(`${few} and ${many} blocks`);
  for (const [i, blocks] of many.entries()) t.ok(blocks < 3 * few[i]! + 50, `${few[i]} and ${blocks} blocks`);
});

t.test('of many that need somebody 20 are shown and 1,000 are counted', async (t) => {
  const { db } = await freshDatabase(t);
  const workspaceId = await insertWorkspace(db);
  await insertConnections(db, workspaceId, 5_000);
  await db.query('testUnready', `update connection set health = 'needs_login'`);
  await db.query('testAnalyze', 'analyze connection');
  const sql = countingBlocks(db);
  const { rows, count, more } = await unreadyConnections(sql, workspaceId);
  t.strictSame([rows.length, count, more], [20, 1_000, true]);
  t.ok(sql.blocks < 2_500, `${sql.blocks} blocks`);
});
