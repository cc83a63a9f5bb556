import t, { type Test } from 'tap';
import { v7 as uuidv7 } from 'uuid';
import { stopSubscription } from '../../../../storage/connections/stopping.js';
import { LIMITS } from '../../../../storage/limits.js';
import { Removals } from '../../../../storage/maintenance/removals.js';
import { startOperations } from '../../../../storage/operations/starts.js';
import { claimPartitions, renewLeases } from '../../../../storage/partitions/partitions.js';
import type { Sql } from '../../../../storage/postgres/database.js';
import { eventually } from '../../../fixture/eventually.js';
import { jobIds } from '../../../fixture/jobs.js';
import { recorded } from '../../../fixture/recorded.js';
import { insertSimulated } from '../../../fixture/rows.js';
import { type EdgeUnderTest, startTestEdge } from '../../edge-fixture.js';
import { insertDeliveries, insertQueue, makeReady, putOperation } from '../../rows.js';

const READ = { capability: 'social.profile.get', input: { profile_id: 'bob' } };
const HOOK = { event_types: ['message_received'], callback_url: 'https://127.0.0.1/hook' };

const submit = (edge: EdgeUnderTest, connectionId: string, key: string) =>
  edge.call('POST', `/v1/connections/${connectionId}/operations`, { body: READ, headers: { 'idempotency-key': key } });

const count = async (db: Sql, table: string, connectionId: string): Promise<number> => {
  const [row] = await db.query<{ rows: number }>(
    `count.${table}`,
    `select count(*) as rows from ${table} where connection_id = $1`,
    [connectionId],
  );
  return row?.rows ?? 0;
};

function startRemovals(t: Test, { db, system }: EdgeUnderTest): Removals {
  const removals = new Removals({ db, log: system.log, settle_ms: 50 });
  t.teardown(() => removals.stop());
  removals.start();
  return removals;
}

const removed = (db: Sql, connectionId: string) =>
  eventually(
    'the connection is removed',
    () => db.query('testConnection', 'select from connection where id = $1', [connectionId]),
    (rows) => rows.length === 0,
  );

t.test('a deleted connection is hidden at once with all that belongs to it, then its rows go', async (t) => {
  const edge = await startTestEdge(t);
  const { call, db } = edge;
  const { id } = await insertSimulated(db, edge.workspaceId, 'ann');
  const done = (await submit(edge, id, 'done')).json.id;
  await putOperation(db, done, 'succeeded', { profile: {} });
  const queued = (await submit(edge, id, 'queued')).json.id;
  const subscription = (await call('POST', `/v1/connections/${id}/subscriptions`, { body: HOOK })).json.id;
  const { events, deliveries } = await insertDeliveries(db, subscription, ['delivered', 'failed', 'pending']);
  const kept = await insertSimulated(db, edge.workspaceId, 'kept');
  const other = (await submit(edge, kept.id, 'other')).json.id;

  t.equal((await call('DELETE', `/v1/connections/${id}`)).status, 204);
  t.equal(await count(db, 'operation', id), 2, 'its rows are there');
  for (const [method, path, body] of [
    ['GET', `/v1/connections/${id}`],
    ['PATCH', `/v1/connections/${id}`, { region: 'US' }],
    ['DELETE', `/v1/connections/${id}`],
    ['POST', `/v1/connections/${id}/disconnect`],
    ['GET', `/v1/connections/${id}/listener`],
    ['GET', `/v1/connections/${id}/events`],
    ['GET', `/v1/connections/${id}/subscriptions`],
    ['POST', `/v1/connections/${id}/subscriptions`, HOOK],
    ['POST', `/v1/connections/${id}/simulated-events`, { type: 'message_received', data: {} }],
    ['GET', `/v1/operations/${done}`],
    ['POST', `/v1/operations/${queued}/cancel`],
    ['POST', `/v1/operations/${done}/reconcile`],
    ['GET', `/v1/subscriptions/${subscription}`],
    ['PATCH', `/v1/subscriptions/${subscription}`, { active: true }],
    ['POST', `/v1/subscriptions/${subscription}/hold`],
    ['POST', `/v1/subscriptions/${subscription}/release`],
    ['POST', `/v1/subscriptions/${subscription}/rotate-secret`],
    ['POST', `/v1/subscriptions/${subscription}/test`],
    ['GET', `/v1/subscriptions/${subscription}/deliveries`],
    ['POST', `/v1/subscriptions/${subscription}/replay-failed`, { since: '2001-01-01T00:00:00Z' }],
    ['GET', `/v1/deliveries/${deliveries[0]}`],
    ['POST', `/v1/deliveries/${deliveries[1]}/replay`],
    ['GET', `/v1/events/${events[0]}`],
  ] as const) {
    t.equal((await call(method, path, { body })).status, 404, `${method} ${path}`);
  }
  // Accepted a moment before, it is remembered for a second: the commit decides.
  t.equal((await submit(edge, id, 'late')).status, 404);
  t.equal((await submit(edge, id, 'done')).status, 404, 'the same request under its own key');
  const lists = async () => [
    (await call('GET', '/v1/connections')).json.connections.map((one) => one.id),
    (await call('GET', '/v1/operations')).json.operations.map((one) => one.id),
    (await call('GET', `/v1/operations?connection_id=${id}`)).json.operations,
  ];
  t.strictSame(await lists(), [[kept.id], [other], []]);
  t.match(await db.query('testQueued', 'select status from operation where id = $1', [queued]), [
    { status: 'canceled' },
  ]);
  const event = { connectionId: id, providerEventId: 'late', type: 'message_received' as const, data: {} };
  t.strictSame(await recorded(db, edge.workspaceId, [event]), [], 'no event is recorded any more');

  const again = await call('POST', '/v1/connections', {
    body: { provider: 'simulated', external_actor: { kind: 'person', id: 'ann' } },
  });
  t.equal(again.status, 201, 'its account is free');
  const conflict = async () => [
    (await submit(edge, again.json.id, 'done')).json,
    (await submit(edge, again.json.id, 'queued')).json,
  ];
  const refused = [{ code: 'idempotency_conflict' }, { code: 'idempotency_conflict' }];
  t.strictSame(await conflict(), refused, 'used keys conflict before their rows are gone');

  startRemovals(t, edge);
  await removed(db, id);
  for (const table of ['operation', 'subscription', 'event', 'event_position', 'event_list']) {
    t.equal(await count(db, table, id), 0, table);
  }
  t.strictSame(await db.query('testDeliveriesLeft', 'select from delivery'), []);
  t.strictSame(await conflict(), refused, 'and after it');
  t.strictSame((await lists())[1], [other]);
  t.strictSame(await jobIds(db), [kept.id], 'its mailbox is gone');
});

t.test('a social connection that is deleted keeps neither session nor password', async (t) => {
  const { call, db } = await startTestEdge(t);
  const body = { provider: 'social', username: 'ann', password: 'sandbox', region: 'US' };
  const { id } = (await call('POST', '/v1/connections', { body })).json;
  await makeReady(db, id);
  const held = () =>
    db.query<{ session: number | null; password: number }>(
      'testSecrets',
      'select octet_length(session_sealed) as session, octet_length(password_sealed) as password from connection where id = $1',
      [id],
    );
  const [before] = await held();
  t.ok(before?.session && before.password, 'it has both');
  t.equal((await call('DELETE', `/v1/connections/${id}`)).status, 204);
  t.strictSame(await held(), [{ session: null, password: 0 }]);
  t.equal((await call('POST', '/v1/connections', { body })).status, 201);
});

t.test('nothing of a deleted connection starts, not even what was stored beside the deletion', async (t) => {
  const edge = await startTestEdge(t);
  const { call, db } = edge;
  const connection = await insertSimulated(db, edge.workspaceId, 'ann');
  await renewLeases(db, uuidv7(), 8_000);
  const owned = await db.transaction((tx) => claimPartitions(tx, uuidv7(), 64, 8_000));
  const { epoch } = owned.find(({ id }) => id === connection.partition)!;
  t.equal((await call('DELETE', `/v1/connections/${connection.id}`)).status, 204);
  await insertQueue(db, connection.id, 1);
  const [late] = await db.query<{ id: string }>('testLate', 'select id from operation');
  const start = { connectionId: connection.id, partition: connection.partition, epoch, attemptId: uuidv7() };
  t.strictSame(await startOperations(db, [{ ...start, id: late!.id }], []), []);
  startRemovals(t, edge);
  await removed(db, connection.id);
  t.strictSame(await jobIds(db), []);
});

t.test('a disconnect cancels a queue of thousands before it answers, and nothing else', async (t) => {
  const edge = await startTestEdge(t);
  const { call, db } = edge;
  const { id } = await insertSimulated(db, edge.workspaceId, 'ann');
  const rows = 3 * LIMITS.removal_rows + 7;
  await insertQueue(db, id, rows);
  const subscription = (await call('POST', `/v1/connections/${id}/subscriptions`, { body: HOOK })).json.id;
  await insertDeliveries(db, subscription, new Array(LIMITS.removal_rows + 3).fill('pending'));
  t.equal((await call('POST', `/v1/connections/${id}/disconnect`)).status, 200);
  const statuses = (table: string) =>
    db.query(`statuses.${table}`, `select status, count(*)::integer as rows from ${table} group by status`);
  t.strictSame(await statuses('operation'), [{ status: 'canceled', rows }]);
  t.strictSame(await statuses('delivery'), [{ status: 'canceled', rows: LIMITS.removal_rows + 3 }]);
  t.strictSame(await db.query('testMark', 'select from connection where cancel_through is not null'), []);
  t.equal((await submit(edge, id, 'after')).status, 202);
});

t.test(
  'a deactivation cancels thousands of deliveries before it answers, and none of another subscription',
  async (t) => {
    const edge = await startTestEdge(t);
    const { call, db } = edge;
    const { id } = await insertSimulated(db, edge.workspaceId, 'ann');
    const subscribe = async () => (await call('POST', `/v1/connections/${id}/subscriptions`, { body: HOOK })).json.id;
    const [subscription, other] = [await subscribe(), await subscribe()];
    const rows = 2 * LIMITS.removal_rows + 3;
    await insertDeliveries(db, subscription, new Array(rows).fill('pending'));
    await insertDeliveries(db, other, ['pending']);
    await insertQueue(db, id, 3);
    const patch = (active: boolean) => call('PATCH', `/v1/subscriptions/${subscription}`, { body: { active } });
    t.match(await patch(false), { status: 200, json: { active: false } });
    const counts = async (one: string) => (await call('GET', `/v1/subscriptions/${one}`)).json.delivery_counts;
    t.match(await counts(subscription), { pending: 0, canceled: rows });
    t.match(await counts(other), { pending: 1, canceled: 0 });
    t.strictSame(await db.query('testQueued', `select from operation where status <> 'queued'`), []);
    t.strictSame(await db.query('testMark', 'select from connection where cancel_through is not null'), []);
    t.match(await patch(true), { status: 200, json: { active: true } });
  },
);

t.test('what a deactivation could not finish is finished by any node, and is not sent meanwhile', async (t) => {
  const edge = await startTestEdge(t);
  const { call, db } = edge;
  const connection = await insertSimulated(db, edge.workspaceId, 'ann');
  const { id, partition } = connection;
  const subscription = (await call('POST', `/v1/connections/${id}/subscriptions`, { body: HOOK })).json.id;
  await insertDeliveries(db, subscription, new Array(LIMITS.removal_rows + 1).fill('pending'));
  // As its request leaves it when its node is killed after the first transaction.
  await db.transaction((tx) => stopSubscription(tx, { id: subscription, partition, connection_id: id }));
  const activate = () => call('PATCH', `/v1/subscriptions/${subscription}`, { body: { active: true } });
  t.match(await activate(), { status: 503, json: { code: 'unavailable' } });
  startRemovals(t, edge);
  await eventually('it can be activated again', activate, ({ status }) => status === 200);
  const { delivery_counts } = (await call('GET', `/v1/subscriptions/${subscription}`)).json;
  t.match(delivery_counts, { pending: 0, canceled: LIMITS.removal_rows + 1 });
});

t.test('what a disconnect could not finish is finished by any node, and starts nowhere meanwhile', async (t) => {
  const edge = await startTestEdge(t);
  const { db } = edge;
  const connection = await insertSimulated(db, edge.workspaceId, 'ann');
  await insertQueue(db, connection.id, 5);
  const operations = await db.query<{ id: string }>('testQueued', 'select id from operation order by id');
  // As its request leaves it when its node is killed after the first transaction.
  await db.query('testMark', 'update connection set cancel_through = $1', [operations[3]!.id]);
  await renewLeases(db, uuidv7(), 8_000);
  const owned = await db.transaction((tx) => claimPartitions(tx, uuidv7(), 64, 8_000));
  const { epoch } = owned.find(({ id }) => id === connection.partition)!;
  const start = async (id: string) => {
    const common = { connectionId: connection.id, partition: connection.partition, epoch, attemptId: uuidv7() };
    return (await startOperations(db, [{ ...common, id }], [])).length;
  };
  t.equal(await start(operations[3]!.id), 0);
  startRemovals(t, edge);
  await eventually(
    'the mark is gone',
    () => db.query('testMarked', 'select from connection where cancel_through is not null'),
    (rows) => rows.length === 0,
  );
  const after = await db.query<{ status: string }>('testStatuses', 'select status from operation order by id');
  t.strictSame(
    after.map(({ status }) => status),
    ['canceled', 'canceled', 'canceled', 'canceled', 'queued'],
  );
  t.equal(await start(operations[4]!.id), 1, 'what came after it runs');
});

t.test('a change of a connection that another transaction holds is refused in time', async (t) => {
  const { call, db, workspaceId } = await startTestEdge(t);
  const { id } = await insertSimulated(db, workspaceId, 'ann');
  await db.transaction(async (tx) => {
    await tx.query('testHold', 'select from connection where id = $1 for update', [id]);
    for (const [method, path] of [
      ['DELETE', `/v1/connections/${id}`],
      ['POST', `/v1/connections/${id}/disconnect`],
    ] as const) {
      const reply = await call(method, path);
      t.match(reply, { status: 503, json: { code: 'unavailable' }, headers: { 'retry-after': '1' } }, method);
    }
  });
  t.equal((await call('DELETE', `/v1/connections/${id}`)).status, 204);
});
