import { randomUUID } from 'node:crypto';
import t from 'tap';
import { v7 as uuidv7 } from 'uuid';
import { EventBatches } from '../../../../actors/listeners/event-batches.js';
import { type Finish, OperationBatches } from '../../../../actors/operations/attempt/operation-batches.js';
import { storeEnd } from '../../../../actors/operations/attempt/store-end.js';
import { createLogger } from '../../../../storage/log/log.js';
import { partitionOf } from '../../../../storage/model/records.js';
import { type Database, openDatabase } from '../../../../storage/postgres/database.js';
import { TIME_LIMITS } from '../../../../storage/postgres/time-limits.js';
import { freshDatabase } from '../../../fixture/database.js';
import { insertWorkspace } from '../../../fixture/rows.js';

t.setTimeout(120_000);

const log = createLogger({ level: 'silent', format: 'json' }, {});
const CONNECTIONS = 50;
const SUBSCRIPTIONS = 200; // of each

/** Each delivery takes this long at least, so that they reach the time limit on a fast machine as on a slow one. */
const DELIVERY_s = 0.000_2;

/** Less than a node allows, so that fewer rows reach it. */
const limits = { ...TIME_LIMITS.thread, statement_ms: 1_250 };

/** One workspace's connections each send a message at about the same time; a neighbour's read ends beside them, in the same thread. */
t.test('ends that come together with more deliveries than one statement can store', async (t) => {
  const { db, url } = await freshDatabase(t);
  const pool = { url, limits, applicationName: 'thread', onError: () => {} };
  const thread = openDatabase({ ...pool, maxConnections: 4, indexedPlans: true });
  t.teardown(() => thread.close());
  const workspaceId = await insertWorkspace(db);
  const neighbours = await insertWorkspace(db);
  const of = (workspace: string, count: number) => Array.from({ length: count }, () => ({ id: uuidv7(), workspace }));
  const connections = [...of(workspaceId, CONNECTIONS), ...of(neighbours, 1)];
  await db.query(
    'testConnections',
    `insert into connection (id, workspace_id, partition, provider, identity_key, actor_kind, actor_id, health)
     select id, w, p, 'simulated', 'person:' || id, 'person', id::text, 'ready' from unnest($1::uuid[], $2::uuid[], $3::smallint[]) c(id, w, p)`,
    [
      connections.map(({ id }) => id),
      connections.map(({ workspace }) => workspace),
      connections.map(({ id }) => partitionOf(id)),
    ],
  );
  await db.query(
    'testSubscriptions',
    `insert into subscription (id, workspace_id, connection_id, partition, event_types, callback_url, active, secret_sealed)
     select gen_random_uuid(), workspace_id, id, partition, '{message_sent}', 'https://example.com/', true, ''
     from connection, generate_series(1, $2) where workspace_id = $1`,
    [workspaceId, SUBSCRIPTIONS],
  );
  await db.query('testAnalyze', 'analyze subscription');
  await db.query(
    'testSlow',
    `create function test_slow() returns trigger language plpgsql as $$ begin perform pg_sleep(${DELIVERY_s}); return new; end $$`,
  );
  await db.query(
    'testSlowDeliveries',
    'create trigger test_slow before insert on delivery for each row execute function test_slow()',
  );
  const ends: Finish[] = [];
  for (const { id: connectionId, workspace } of connections) {
    const operation = { id: uuidv7(), attemptId: randomUUID(), epoch: 1, partition: partitionOf(connectionId) };
    await db.query(
      'testRunning',
      `insert into operation (id, workspace_id, connection_id, partition, capability, status, idempotency_key, fingerprint, input, epoch, attempts)
       values ($1::uuid, $2, $3, $4, 'social.message.send', 'running', $1::uuid::text, '', '{}', 1, jsonb_build_array(jsonb_build_object('id', $5::uuid, 'number', 1, 'status', 'running')))`,
      [operation.id, workspace, connectionId, operation.partition, operation.attemptId],
    );
    const none = { errorCode: null, errorDetails: null, evidence: null, running_ms: 1, result: {} };
    const event = {
      connectionId,
      providerEventId: `sim-${operation.id}`,
      type: 'message_sent',
      data: { message_body: 'hi' },
    };
    ends.push({
      operation: {
        ...operation,
        ...none,
        from: 'running',
        to: 'succeeded',
        reason: 'succeeded',
        attemptStatus: 'succeeded',
        phase: 'done',
      },
      connectionId,
      workspaceId: workspace,
      change: null,
      events: workspace === workspaceId ? [event as never] : [],
      simulatedInvitation: undefined,
    });
  }
  const order: string[] = [];
  const codes: unknown[] = [];
  const counting: Database = {
    ...thread,
    transaction: (work) =>
      thread.transaction(work).catch((error) => {
        codes.push(error.code);
        throw error;
      }),
  };
  const batches = new OperationBatches(counting, thread, { node_id: randomUUID(), thread: 'actors-0' }, () => {});
  await Promise.all(
    ends.map(async (end) => {
      const wanted = { fallback: () => end, outlived: () => end, mayStore: () => true };
      const { kind } = await storeEnd({ db: thread, batches, log }, end, wanted);
      t.equal(kind, 'stored');
      order.push(end.workspaceId);
    }),
  );
  t.equal(codes[0], '57014', 'together they take too long');
  t.equal(order[0], neighbours, "a neighbour's operation ends with the first statement behind that");

  const listeners = new EventBatches(thread, () => {});
  const heard: string[] = [];
  await Promise.all(
    connections.map(async ({ id: connectionId, workspace }) => {
      const event = { connectionId, providerEventId: `heard-${connectionId}`, type: 'message_sent', data: {} };
      await listeners.add(workspace, event as never);
      heard.push(workspace);
    }),
  );
  t.equal(heard[0], neighbours, "what a neighbour's stream heard is recorded");
  const events = await db.query<{ n: number }>('testEvents', 'select count(*)::int as n from event');
  t.strictSame(events, [{ n: 2 * CONNECTIONS + 1 }]);
});
