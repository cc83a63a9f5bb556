import { randomBytes } from 'node:crypto';
import t from 'tap';
import { v7 as uuidv7 } from 'uuid';
import { check } from '../../bench/scenarios/chaos/checker/check.js';
import { readRows } from '../../bench/scenarios/chaos/checker/read-rows.js';
import { OrphanProbe } from '../../bench/scenarios/chaos/parts/orphan-probe.js';
import { insertSubscription } from '../../storage/deliveries/subscriptions.js';
import { timeOfId } from '../../storage/model/id-time.js';
import { partitionOf } from '../../storage/model/records.js';
import { enterDispatching, finishOperations } from '../../storage/operations/execution.js';
import { storeFilePart } from '../../storage/operations/operation-files.js';
import { startOperations } from '../../storage/operations/starts.js';
import { type NewOperation, submitOperations } from '../../storage/operations/submission.js';
import { claimPartitions } from '../../storage/partitions/partitions.js';
import type { Database } from '../../storage/postgres/database.js';
import { freshDatabase } from '../fixture/database.js';
import { recorded } from '../fixture/recorded.js';
import { insertSimulated, insertWorkspace } from '../fixture/rows.js';

const KEYS = `test:${randomBytes(32).toString('base64')}`;

const MESSAGE = 'social.message.send';

function newOperation(workspaceId: string, connectionId: string, capability = MESSAGE): NewOperation {
  const id = uuidv7();
  return {
    id,
    workspaceId,
    connectionId,
    partition: partitionOf(connectionId),
    capability,
    idempotencyKey: `key of ${id}`,
    keyHash: Buffer.alloc(32),
    fingerprint: Buffer.alloc(32),
    input: '{}',
    inputSealed: null,
    acceptedAt: new Date(),
  };
}

/** Runs operations of different connections to their boundary, and ends them as `succeeded` if `end`. */
async function run(db: Database, operations: NewOperation[], epoch: number, end: boolean) {
  const held = operations.map((operation) => ({
    ...operation,
    epoch,
    attemptId: uuidv7(),
  }));
  await startOperations(db, held, []);
  await enterDispatching(db, held, { node_id: uuidv7(), thread: 'actors-0' });
  const done = { from: 'running', to: 'succeeded', reason: 'succeeded', attemptStatus: 'succeeded' } as const;
  const ends = held.map((one) => ({
    ...one,
    ...done,
    result: {},
    errorCode: null,
    errorDetails: null,
    evidence: null,
    phase: 'done' as const,
    running_ms: 0,
  }));
  if (end) await finishOperations(db, ends);
  return held;
}

t.test('what the checker reads of a database is what the service stored', async (t) => {
  const { db, url } = await freshDatabase(t);
  const before = Date.now();
  const workspace = await insertWorkspace(db);
  const one = await insertSimulated(db, workspace, 'one');
  const other = await insertSimulated(db, workspace, 'other');
  const node = uuidv7();
  await db.transaction((tx) => claimPartitions(tx, node, 64, 60_000));
  const [ended, waiting, running] = [
    newOperation(workspace, one.id),
    newOperation(workspace, one.id, 'social.identity.get'),
    newOperation(workspace, other.id),
  ];
  await submitOperations(db, [ended, waiting, running], []);
  await run(db, [ended], 1, true);
  const [held] = await run(db, [running], 1, false);
  await storeFilePart(db, held!, { part: 0, bytes: Buffer.from('a part'), bound: null });
  await storeFilePart(db, held!, { part: 1, bytes: Buffer.from('another'), bound: null });
  const subscription = { id: uuidv7(), connectionId: one.id, callbackUrl: 'https://receiver.test/in' };
  const unused = { secretSealed: Buffer.alloc(1), destination: null };
  await insertSubscription(db, { ...subscription, ...unused, eventTypes: ['message_sent'] });
  const event = { connectionId: one.id, providerEventId: 'e', type: 'message_sent' as const, data: {} };
  await recorded(db, workspace, [event]);
  await db.query(
    'testListener',
    `insert into listener (connection_id, stream_status, status, continuity_status, epoch, heartbeat_at)
     values ($1, 'connected', 'running', 'continuous', 1, now()), ($2, 'connecting', 'running', 'unknown', 1, null)`,
    [one.id, other.id],
  );
  await db.query('testFree', `update partition set lease_until = '-infinity' where id = 9`);

  const rows = await readRows(url, KEYS, Date.now());

  const now = Date.now();
  const isNow = (at: number | null | undefined) => typeof at === 'number' && at >= before && at <= now;
  t.ok(isNow(rows.read_at));
  t.equal(rows.operations.length, 3);
  const stored = rows.operations.find(({ id }) => id === ended.id)!;
  t.match(stored, {
    connection_id: one.id,
    capability: MESSAGE,
    status: 'succeeded',
    error_code: null,
    evidence_fault: null,
    idempotency_key: ended.idempotencyKey,
    cancel_requested: false,
    attempts: [{ number: 1, status: 'succeeded', phase: 'done' }],
    timeline: [
      { from: null, to: 'queued', reason: 'submitted' },
      { from: 'queued', to: 'running', reason: 'started' },
      { from: 'running', to: 'succeeded', reason: 'succeeded' },
    ],
  });
  t.ok([stored.created_at, stored.updated_at, stored.attempts[0]?.started_at, stored.timeline[2]?.at].every(isNow));
  t.same(
    rows.jobs.map(({ queue, id, state }) => [queue, id, state]).sort(),
    [
      [`mailbox-${one.partition}`, one.id, 'created'],
      [`mailbox-${other.partition}`, other.id, 'created'],
      [`delivery-${one.partition}`, subscription.id, 'created'],
    ].sort(),
  );
  t.equal(rows.jobs.find(({ id }) => id === other.id)?.from, running.id);
  t.equal(waiting.connectionId, one.id);
  t.same(rows.file_parts, [{ operation_id: running.id, attempt_id: held!.attemptId }], 'once, however many parts');
  t.match(rows.subscriptions, [
    { id: subscription.id, connection_id: one.id, event_types: ['message_sent'], active: true },
  ]);
  t.match(rows.events, [{ connection_id: one.id, type: 'message_sent', provider_event_id: 'e' }]);
  t.equal(rows.events[0]?.received_at, timeOfId(rows.events[0]!.id));
  t.ok(isNow(rows.subscriptions[0]?.created_at));
  t.match(rows.deliveries, [{ subscription_id: subscription.id, event_id: rows.events[0]?.id, status: 'pending' }]);
  t.equal(rows.listeners.length, 2);
  t.ok(isNow(rows.listeners.find(({ connection_id }) => connection_id === one.id)?.heartbeat_at));
  t.equal(rows.listeners.find(({ connection_id }) => connection_id === other.id)?.heartbeat_at, null);
  t.equal(rows.partitions.filter(({ owned, epoch, node_id }) => owned && epoch === 1 && node_id === node).length, 63);
  t.match(
    rows.partitions.find(({ id }) => id === 9),
    { owned: false },
  );
});

t.test('rows are read page by page, every one once', async (t) => {
  const { db, url } = await freshDatabase(t);
  const workspace = await insertWorkspace(db);
  const { id, partition } = await insertSimulated(db, workspace, 'busy');
  const operations = 20_001;
  await db.query(
    'testHistory',
    `insert into operation (id, workspace_id, connection_id, partition, capability, status, idempotency_key, fingerprint, input, result)
     select gen_random_uuid(), $1, $2, $3, 'social.identity.get', 'succeeded', 'key ' || n, '\\x00', '{}', '{}'
     from generate_series(1, $4::integer) n`,
    [workspace, id, partition, operations],
  );
  const rows = await readRows(url, KEYS, Date.now());
  t.equal(new Set(rows.operations.map((operation) => operation.id)).size, operations);
  t.equal(rows.operations.length, operations);
});

t.test('an operation that the database lost track of is found through its rows', async (t) => {
  const { db, url } = await freshDatabase(t);
  const workspace = await insertWorkspace(db);
  const { id } = await insertSimulated(db, workspace, 'one');
  const operation = newOperation(workspace, id);
  await submitOperations(db, [operation], []);
  await run(db, [operation], 0, false);
  const said: string[] = [];
  await using probe = new OrphanProbe(url, (line) => said.push(line));
  await probe.look();
  await probe.look();
  t.same(probe.orphans, [], 'it stands in a mailbox');
  await db.query(
    'testMoveMark',
    `update pgboss.job_common set data = data || '{"from": "ffffffff-ffff-ffff-ffff-ffffffffffff"}'`,
  );
  await probe.look();
  t.same(probe.orphans, [], 'one look is not enough');
  await db.query('testForgetJob', `delete from pgboss.job_common where name like 'mailbox-%'`);
  await probe.look();
  t.match(probe.orphans, [{ operation_id: operation.id, connection_id: id, status: 'running', mark: null }]);
  t.same(said, [`operation ${operation.id} is running in nobody's hand`]);
  const read_at = Date.now();
  const record = { seed: 1, commit: '', nodes: 1, started_at: read_at - 1_000, calm_at: read_at, read_at, faults: [] };
  const logs = { submissions: [], cancels: [], ledger: [], callbacks: [], samples: [] };
  const found = check({ ...logs, run: record, rows: await readRows(url, KEYS, Date.now()) });
  const names = new Set(found.flatMap(({ invariant, what }) => (what.includes(operation.id) ? invariant : [])));
  for (const name of ['everyOperationEnds', 'mailboxesHoldLiveOperations']) {
    t.ok(names.has(name), name);
  }
});
