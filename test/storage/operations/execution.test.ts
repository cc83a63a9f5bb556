import { createHash, randomUUID } from 'node:crypto';
import t from 'tap';
import { v7 as uuidv7 } from 'uuid';
import { enterDispatching, finishOperations, startOperations } from '../../../storage/operations/execution.js';
import { type NewOperation, submitOperations } from '../../../storage/operations/submission.js';
import { claimPartitions, renewLeases } from '../../../storage/partitions/partitions.js';
import type { Sql } from '../../../storage/postgres/database.js';
import { freshDatabase } from '../../fixture/database.js';
import { jobState } from '../../fixture/jobs.js';
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
  t.strictSame(answers[0], { kind: 'created', handed: true });
  t.strictSame(answers[1], { kind: 'replayed', operationId: first.id });
  t.strictSame(answers[2], { kind: 'conflict' });
  t.strictSame(answers[3], { kind: 'not_found' });
  t.equal(await jobState(db, first.id), 'active');

  const held = {
    id: first.id,
    connectionId: connection.id,
    partition: mine.id,
    epoch: mine.epoch,
    attemptId: uuidv7(),
  };
  const stale = { ...held, epoch: mine.epoch - 1 };
  t.strictSame(await startOperations(db, [{ ...stale, phase: 'preparing' }]), [], 'a stale epoch starts nothing');
  const [started] = await startOperations(db, [{ ...held, phase: 'preparing' }]);
  t.equal(started?.operation_id, first.id);
  t.equal(started?.id, connection.id);
  t.strictSame(started?.input, {});
  t.ok((await enterDispatching(db, [held])).has(first.id));
  const finish = {
    from: 'running',
    to: 'succeeded',
    reason: 'succeeded',
    attemptStatus: 'succeeded',
    result: { state_revision: 0 },
    errorCode: null,
    errorDetails: null,
  } as const;
  t.equal((await finishOperations(db, [{ ...stale, ...finish }])).size, 0, 'a stale epoch finishes nothing');
  t.equal((await finishOperations(db, [{ ...held, ...finish }])).size, 1);
  t.equal(await statusOf(db, first.id), 'succeeded');
  t.equal(await jobState(db, first.id), undefined, 'the job is gone with its operation');
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
  t.equal(
    (
      await startOperations(
        db,
        held.map((h) => ({ ...h, phase: 'preparing' as const })),
      )
    ).length,
    3,
  );
  await enterDispatching(db, [held[0]!]);
  await db.query('testCancel', 'update operation set cancel_requested = true where id = $1', [held[2]!.id]);
  await db.query('testExpire', `update partition set lease_until = now() - interval '1 second'`);
  const taken = await db.transaction((tx) => claimPartitions(tx, next, 64, 8_000));
  t.equal(taken[0]!.epoch, epoch + 1);
  t.equal(await statusOf(db, ids.dispatched!.id), 'outcome_unknown');
  t.equal(await statusOf(db, ids.preparing!.id), 'queued');
  t.equal(await statusOf(db, ids.canceled!.id), 'canceled');
  t.equal(await jobState(db, ids.dispatched!.id), undefined);
  t.equal(await jobState(db, ids.preparing!.id), 'created', 'its job can be fetched again');
  t.equal((await enterDispatching(db, [held[1]!])).size, 0, 'the former owner can send nothing');
});
