import { createHash, randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import { v7 as uuidv7 } from 'uuid';
import { waitForUser } from '../../../storage/operations/challenge.js';
import { enterDispatching, finishOperations, storedEnd, WAITS_FOR_KEY } from '../../../storage/operations/execution.js';
import { findOperations } from '../../../storage/operations/operations.js';
import { startOperations, startsLeftOut } from '../../../storage/operations/starts.js';
import { type NewOperation, submitOperations } from '../../../storage/operations/submission.js';
import { claimPartitions, renewLeases } from '../../../storage/partitions/partitions.js';
import { recoverPartition } from '../../../storage/partitions/recovery.js';
import type { Sql } from '../../../storage/postgres/database.js';
import { freshDatabase } from '../../fixture/database.js';
import { jobState } from '../../fixture/jobs.js';
import { lockAwaited } from '../../fixture/locks.js';
import { insertSimulated, insertWorkspace } from '../../fixture/rows.js';

const sha = (text: string) => createHash('sha256').update(text).digest();

function operation(
  workspaceId: string,
  connection: { id: string; partition: number },
  key: string,
  input = '{}',
): NewOperation {
  return {
    id: uuidv7(),
    workspaceId,
    connectionId: connection.id,
    partition: connection.partition,
    capability: 'social.profile.get',
    idempotencyKey: key,
    keyHash: sha(key),
    fingerprint: sha(input),
    input,
    inputSealed: null,
    acceptedAt: new Date(),
  };
}

const WORKER = { node_id: randomUUID(), thread: 'actors-1' };

const statusOf = async (db: Sql, id: string) =>
  (await db.query<{ status: string }>('testStatus', 'select status from operation where id = $1', [id]))[0]?.status;

t.test('an operation runs its whole way under a valid epoch', async (t) => {
  const { db } = await freshDatabase(t);
  const workspace = await insertWorkspace(db);
  const connection = await insertSimulated(db, workspace, 'ada');
  const node = randomUUID();
  await renewLeases(db, node, 8_000);
  const owned = await db.transaction((tx) => claimPartitions(tx, node, 64, 8_000));
  t.equal(owned.length, 64);
  const mine = owned.find((p) => p.id === connection.partition)!;

  const first = operation(workspace, connection, 'k1');
  const twin = operation(workspace, connection, 'k1');
  const other = operation(workspace, connection, 'k1', '{"a":1}');
  const stray = operation(workspace, { id: uuidv7(), partition: 3 }, 'k2');
  const answers = await submitOperations(db, [first, twin, other, stray], [mine]);
  t.match(answers[0], { kind: 'created', handed: true });
  t.strictSame(answers[1], { kind: 'replayed', operationId: first.id });
  t.strictSame(answers[2], { kind: 'conflict' });
  t.strictSame(answers[3], { kind: 'not_found' });
  t.equal(await jobState(db, connection.id), 'active', 'its mailbox is open');

  const held = {
    id: first.id,
    connectionId: connection.id,
    partition: mine.id,
    epoch: mine.epoch,
    attemptId: uuidv7(),
  };
  const stale = { ...held, epoch: mine.epoch - 1 };
  t.strictSame(await startOperations(db, [stale], []), [], 'a stale epoch starts nothing');
  const [started] = await startOperations(db, [held], []);
  t.equal(started?.operation_id, first.id);
  t.equal(started?.id, connection.id);
  t.strictSame(started?.input, {});
  t.ok((await enterDispatching(db, [held], WORKER)).has(first.id));
  const finish = {
    from: 'running',
    to: 'succeeded',
    reason: 'succeeded',
    attemptStatus: 'succeeded',
    result: { state_revision: 0 },
    errorCode: null,
    errorDetails: null,
    evidence: null,
    phase: 'done',
    running_ms: 0,
  } as const;
  t.equal((await finishOperations(db, [{ ...stale, ...finish }])).size, 0, 'a stale epoch finishes nothing');
  t.equal((await finishOperations(db, [{ ...held, ...finish }])).size, 1);
  t.equal(await statusOf(db, first.id), 'succeeded');
  t.equal(await jobState(db, connection.id), 'active', 'until its owner settles it');
});

t.test('the end of an operation follows in its timeline on the status that its row has', async (t) => {
  const { db } = await freshDatabase(t);
  const workspace = await insertWorkspace(db);
  const connection = await insertSimulated(db, workspace, 'ada');
  const owned = await db.transaction((tx) => claimPartitions(tx, randomUUID(), 64, 60_000));
  const { partition, id: connectionId } = connection;
  const { epoch } = owned.find(({ id }) => id === partition)!;
  const submitted = operation(workspace, connection, 'one');
  const { id } = submitted;
  await submitOperations(db, [submitted], owned);
  const held = { id, connectionId, partition, epoch, attemptId: uuidv7() };
  await startOperations(db, [held], []);
  // A cancel ends the wait for a code that was taken meanwhile: its row runs already.
  const end = { to: 'canceled', reason: 'cancel_requested', attemptStatus: 'failed', phase: null } as const;
  const nothing = { result: null, errorCode: null, errorDetails: null, evidence: null, running_ms: 0 } as const;
  t.equal((await finishOperations(db, [{ ...held, ...end, ...nothing, from: 'waiting_user' }])).size, 1);
  const [row] = await findOperations(db, [id]);
  t.match(row?.timeline, [
    { from: null, to: 'queued' },
    { from: 'queued', to: 'running' },
    { from: 'running', to: 'canceled', reason: 'cancel_requested' },
  ]);
});

t.test('a take-over settles what the former owner left, and fences it', async (t) => {
  const { db } = await freshDatabase(t);
  const workspace = await insertWorkspace(db);
  const [node, next] = [randomUUID(), randomUUID()];
  const owned = await db.transaction((tx) => claimPartitions(tx, node, 64, 50));
  const epoch = owned[0]!.epoch;
  const ids: Record<string, ReturnType<typeof operation>> = {};
  const held = [];
  for (const name of ['dispatched', 'preparing', 'canceled']) {
    const connection = await insertSimulated(db, workspace, name);
    const op = operation(workspace, connection, name);
    ids[name] = op;
    held.push({
      id: op.id,
      connectionId: connection.id,
      partition: connection.partition,
      epoch,
      attemptId: uuidv7(),
    });
  }
  await submitOperations(db, Object.values(ids), owned);
  t.equal((await startOperations(db, held, [])).length, 3);
  await enterDispatching(db, [held[0]!], WORKER);
  await db.query('testCancel', 'update operation set cancel_requested = true where id = $1', [held[2]!.id]);
  await db.query('testExpire', `update partition set lease_until = now() - interval '1 second'`);
  const taken = await db.transaction((tx) => claimPartitions(tx, next, 64, 8_000));
  t.equal(taken[0]!.epoch, epoch + 1);
  t.equal(await statusOf(db, ids.dispatched!.id), 'outcome_unknown');
  t.equal(await statusOf(db, ids.preparing!.id), 'queued');
  t.equal(await statusOf(db, ids.canceled!.id), 'canceled');
  for (const { connectionId } of held)
    t.equal(await jobState(db, connectionId), 'created', 'its mailbox can be opened again');
  t.equal((await enterDispatching(db, [held[1]!], WORKER)).size, 0, 'the former owner can send nothing');
});

/** A partition whose owner has started one operation, and the moment at which another node takes it. */
async function startedOperation(t: Test) {
  const { db } = await freshDatabase(t);
  const workspace = await insertWorkspace(db);
  const connection = await insertSimulated(db, workspace, 'ada');
  const owned = await db.transaction((tx) => claimPartitions(tx, randomUUID(), 64, 8_000));
  const mine = owned.find((p) => p.id === connection.partition)!;
  const one = operation(workspace, connection, 'one');
  await submitOperations(db, [one], [mine]);
  const held = { id: one.id, connectionId: connection.id, partition: mine.id, epoch: mine.epoch, attemptId: uuidv7() };
  await startOperations(db, [held], []);
  /** Recovers the partition while `write`, in a transaction of its own, is not committed yet. */
  const recoverDuring = async (write: (tx: Sql) => Promise<unknown>) => {
    const written = Promise.withResolvers<void>();
    const commit = Promise.withResolvers<void>();
    const writing = db.transaction(async (tx) => {
      await write(tx);
      written.resolve();
      await commit.promise;
    });
    await written.promise;
    const recovering = db.transaction((tx) => recoverPartition(tx, mine.id));
    await lockAwaited(db);
    commit.resolve();
    await writing;
    return recovering;
  };
  return { db, workspace, connection, mine, held, recoverDuring };
}

t.test(
  'a write boundary that commits while its partition is recovered decides what becomes of its operation',
  async (t) => {
    const { db, held, recoverDuring } = await startedOperation(t);
    t.match(await recoverDuring((tx) => enterDispatching(tx, [held], WORKER)), { outcome_unknown: 1, queued: 0 });
    t.equal(await statusOf(db, held.id), 'outcome_unknown', 'it may have left: it is not sent again');
  },
);

t.test('a recovery tells of a lost write what is durable of it', async (t) => {
  const { db, held } = await startedOperation(t);
  const before = new Date().toISOString();
  await enterDispatching(db, [held], WORKER);
  const after = new Date().toISOString();
  const other = { node_id: randomUUID(), thread: 'actors-0' };
  t.ok((await enterDispatching(db, [held], other)).has(held.id), 'asked again');
  t.match((await findOperations(db, [held.id]))[0], { evidence: null }, 'nothing is in question yet');
  await db.transaction((tx) => recoverPartition(tx, held.partition));
  const [lost] = await findOperations(db, [held.id]);
  t.strictSame(lost?.evidence, { fault: 'worker_lost', request: { sent: 'unknown', at: null }, answer: null });
  t.match(lost?.attempts, [{ phase: 'dispatching', boundary: WORKER }], 'the first one counts');
  const at = lost?.attempts[0]?.boundary?.at ?? '';
  t.ok(before <= at && at <= after, `${before} ${at} ${after}`);
});

t.test('evidence is stored with the end, once, and the phase says that an answer came', async (t) => {
  const { db, held } = await startedOperation(t);
  await enterDispatching(db, [held], WORKER);
  const end = { from: 'running', to: 'outcome_unknown', reason: 'no_proof', attemptStatus: 'outcome_unknown' } as const;
  const request = { sent: 'yes', at: new Date().toISOString() } as const;
  const evidence = { request, answer: { status: 503 }, fault: 'upstream_error' } as const;
  const empty = { result: null, errorCode: null, errorDetails: null, running_ms: 1 };
  const finish = { ...held, ...end, ...empty, evidence, phase: 'confirming' as const };
  t.equal((await finishOperations(db, [finish])).get(held.id)?.status, 'outcome_unknown');
  const [stored] = await findOperations(db, [held.id]);
  t.strictSame(stored?.evidence, evidence);
  t.match(stored?.attempts, [{ phase: 'confirming', boundary: WORKER }]);
  const again = { ...finish, evidence: { ...evidence, fault: 'internal_error' as const } };
  t.equal((await finishOperations(db, [again])).size, 0);
  await db.transaction((tx) => recoverPartition(tx, held.partition));
  t.strictSame((await findOperations(db, [held.id]))[0]?.evidence, evidence);
});

t.test('an attempt that a former version let past its boundary is in question with what it left', async (t) => {
  const { db, held } = await startedOperation(t);
  await db.query(
    'testFormerBoundary',
    `update operation set attempts = jsonb_set(attempts, '{-1,phase}', '"dispatching"') where id = $1`,
    [held.id],
  );
  t.match(await db.transaction((tx) => recoverPartition(tx, held.partition)), { outcome_unknown: 1 });
  const [lost] = await findOperations(db, [held.id]);
  t.match(lost?.evidence, { fault: 'worker_lost' });
  t.equal(lost?.attempts[0]?.boundary, undefined);
});

t.test('a wait for the user that begins while its partition is recovered ends with it', async (t) => {
  const { db, held, recoverDuring } = await startedOperation(t);
  const challenge = { id: randomUUID(), kind: 'sms', accepts_code: true, answered: false, tries: 1 } as const;
  t.match(await recoverDuring((tx) => waitForUser(tx, held, challenge, 600_000)), { failed: 1, queued: 0 });
  t.equal(await statusOf(db, held.id), 'failed');
});

t.test('a recovery leaves what is in hand as it is', async (t) => {
  const { db, held, mine } = await startedOperation(t);
  t.match(await db.transaction((tx) => recoverPartition(tx, mine.id, [held.id])), { queued: 0, jobs: 1 });
  t.equal(await statusOf(db, held.id), 'running');
  t.equal(await jobState(db, held.connectionId), 'created', 'what else is in its mailbox is to be read');
  t.match(await db.transaction((tx) => recoverPartition(tx, mine.id, [])), { queued: 1, jobs: 0 });
});

t.test('a stale start beside a current one of its partition starts nothing', async (t) => {
  const { db, workspace, mine } = await startedOperation(t);
  const node = randomUUID();
  await db.query('testNext', 'update partition set epoch = epoch + 1, node_id = $2 where id = $1', [mine.id, node]);
  const again = await insertConnectionOf(db, workspace, mine.id);
  const stale = operation(workspace, again, 'stale');
  await submitOperations(db, [stale], []);
  const start = (op: NewOperation, epoch: number) => ({
    ...{ id: op.id, partition: op.partition, epoch, attemptId: uuidv7(), connectionId: op.connectionId },
  });
  // The stale one of partition `mine` under the epoch that it had, beside one that makes the partition's id valid.
  const currentOfSame = operation(workspace, await insertConnectionOf(db, workspace, mine.id), 'same');
  await submitOperations(db, [currentOfSame], []);
  const started = await startOperations(db, [start(stale, mine.epoch), start(currentOfSame, mine.epoch + 1)], []);
  t.strictSame(
    started.map((row) => row.operation_id),
    [currentOfSame.id],
  );
  t.equal(await statusOf(db, stale.id), 'queued');
});

t.test('an attempt starts once, however often it is asked for, and its answer can be asked again', async (t) => {
  const { db, held } = await startedOperation(t);
  t.strictSame(await startOperations(db, [held], []), []);
  t.match(await startsLeftOut(db, [held]), [
    { kind: 'started', started: { operation_id: held.id, epoch: held.epoch } },
  ]);
  t.match(await startsLeftOut(db, [{ ...held, attemptId: uuidv7() }]), [{ kind: 'elsewhere' }]);
  const end = { from: 'running', to: 'queued', reason: 'retry_proxy_error', attemptStatus: 'failed' } as const;
  const finish = {
    ...held,
    ...end,
    result: null,
    errorCode: null,
    errorDetails: null,
    evidence: null,
    phase: null,
    running_ms: 1_500,
  };
  await finishOperations(db, [finish]);
  t.strictSame(
    await startOperations(db, [held], []),
    [],
    'a start that arrives after its attempt has ended starts nothing',
  );
  t.match(await startsLeftOut(db, [held]), [{ kind: 'queued' }]);
  t.equal(await storedEnd(db, finish), 'queued', 'that it was stored can be asked');
  const [next] = await startOperations(db, [{ ...held, attemptId: uuidv7() }], []);
  t.match(next, { attempt_number: 2, spent_ms: 1_500 });
});

t.test('however often an operation waits for its key, one attempt says so', async (t) => {
  const { db, held } = await startedOperation(t);
  const finish = (attemptId: string, reason: string) =>
    finishOperations(db, [
      {
        ...{ ...held, attemptId, from: 'running', to: 'queued', reason, attemptStatus: 'failed' },
        ...{ result: null, errorCode: null, errorDetails: null, evidence: null, phase: null, running_ms: 0 },
      },
    ]);
  await finish(held.attemptId, 'retry_proxy_error');
  let last = held.attemptId;
  for (let n = 0; n < 4; n++) {
    last = uuidv7();
    t.match(await startOperations(db, [{ ...held, attemptId: last }], []), [{ attempt_number: n === 0 ? 2 : 3 }]);
    await finish(last, WAITS_FOR_KEY);
    t.strictSame(await startOperations(db, [{ ...held, attemptId: last }], []), [], 'it starts once');
  }
  const [row] = await findOperations(db, [held.id]);
  t.match(
    row?.attempts,
    [
      { id: held.attemptId, number: 1 },
      { id: last, number: 2, status: 'failed' },
    ],
    'beside those that failed for something else',
  );
  t.equal(row?.attempts.length, 2);
  t.strictSame(
    row?.timeline.map(({ to, reason }) => `${to} ${reason}`),
    ['queued submitted', 'running started', 'queued retry_proxy_error', 'running started', `queued ${WAITS_FOR_KEY}`],
  );
  await startOperations(db, [{ ...held, attemptId: uuidv7() }], []);
  t.match((await findOperations(db, [held.id]))[0]?.attempts.at(-1), { number: 3, status: 'running' });
});

t.test('an attempt of a write begins as preparing, one of a read as reading', async (t) => {
  const { db, held } = await startedOperation(t);
  const phase = async () => {
    const [row] = await db.query<{ phase: string }>(
      'testPhase',
      `select attempts -> -1 ->> 'phase' as phase from operation where id = $1`,
      [held.id],
    );
    return row?.phase;
  };
  t.equal(await phase(), 'reading');
  await db.transaction((tx) => recoverPartition(tx, held.partition));
  await startOperations(db, [{ ...held, attemptId: uuidv7() }], ['social.profile.get']);
  t.equal(await phase(), 'preparing');
});

t.test('rows that are locked hold up no others of their batch', async (t) => {
  const { db, workspace, connection, mine } = await startedOperation(t);
  const free = await insertConnectionOf(db, workspace, mine.id);
  await db.transaction(async (tx) => {
    await tx.query('testLock', 'select 1 as one from connection where id = $1 for update', [connection.id]);
    const [stuck, stored] = await submitOperations(
      db,
      [operation(workspace, connection, 'stuck'), operation(workspace, free, 'stored')],
      [mine],
    );
    t.strictSame([stuck?.kind, stored?.kind], ['locked', 'created']);
  });
  await db.transaction(async (tx) => {
    await tx.query('testLockPartition', 'select 1 as one from partition where id = $1 for update', [mine.id]);
    const [beside] = await submitOperations(db, [operation(workspace, free, 'beside')], [mine]);
    t.match(beside, { kind: 'created', handed: false }, 'a partition that is being taken hands nothing over');
  });
});

/** A simulated connection of this partition. */
async function insertConnectionOf(db: Sql, workspaceId: string, partition: number) {
  for (let n = 0; ; n++) {
    const connection = await insertSimulated(db, workspaceId, `of-${partition}-${n}-${randomUUID()}`);
    if (connection.partition === partition) return connection;
  }
}

t.test('what waits behind an operation starts with its end, and only with it', async (t) => {
  const { db } = await freshDatabase(t);
  const workspace = await insertWorkspace(db);
  const connection = await insertSimulated(db, workspace, 'ada');
  const node = randomUUID();
  await renewLeases(db, node, 60_000);
  const owned = await db.transaction((tx) => claimPartitions(tx, node, 64, 60_000));
  const { id: partition, epoch } = owned.find((one) => one.id === connection.partition)!;
  const starting = (id: string) => ({ id, partition, epoch, attemptId: uuidv7(), connectionId: connection.id });
  const operations = ['a', 'b', 'c', 'd'].map((key) => operation(workspace, connection, key));
  await submitOperations(db, operations, [{ id: partition, epoch }]);
  const [a, b, c, d] = operations.map(({ id }) => starting(id)) as [Starting, Starting, Starting, Starting];
  await startOperations(db, [a], []);
  const end = (of: Starting, to: 'succeeded' | 'queued' = 'succeeded') => ({
    ...{ ...of, from: 'running' as const, to, reason: to, attemptStatus: to === 'queued' ? ('failed' as const) : to },
    ...{ phase: null, result: to === 'queued' ? null : {}, errorCode: null, errorDetails: null, evidence: null },
    running_ms: 1,
  });
  const both = async (of: Starting, next: Starting, to?: 'queued') =>
    (await finishOperations(db, [end(of, to)], new Map([[of.id, next]]), ['social.profile.get'])).get(of.id);

  t.equal(await both({ ...a, epoch: epoch + 1 }, b), undefined, 'nothing was held');
  t.equal(await statusOf(db, b.id), 'queued');
  t.match(await both(a, { ...b, epoch: epoch + 1 }), { status: 'succeeded', started: undefined }, 'its epoch is stale');
  t.equal(await statusOf(db, b.id), 'queued');
  await startOperations(db, [b], []);
  t.match(await both(b, c), { status: 'succeeded', started: { operation_id: c.id, attempt_number: 1, epoch } });
  t.match((await findOperations(db, [c.id]))[0], {
    status: 'running',
    attempts: [{ id: c.attemptId, phase: 'preparing', status: 'running' }],
    timeline: [{ to: 'queued' }, { from: 'queued', to: 'running', reason: 'started' }],
  });
  t.match(await startsLeftOut(db, [c]), [{ kind: 'started' }], 'whoever lost the answer finds it by its attempt');
  t.match(await both(c, d, 'queued'), { status: 'queued', started: undefined }, 'what goes back goes first');
  await startOperations(db, [{ ...c, attemptId: uuidv7() }], []);
  await db.transaction(async (tx) => {
    await tx.query('testLock', 'select 1 as one from connection where id = $1 for update', [connection.id]);
    const [row] = await findOperations(tx, [c.id]);
    const again = { ...c, attemptId: row!.attempts.at(-1)!.id };
    t.match(await both(again, d), { status: 'succeeded', started: undefined }, 'its connection is being changed');
  });
  t.equal(await statusOf(db, d.id), 'queued');
});

type Starting = Parameters<typeof startOperations>[1][number];
