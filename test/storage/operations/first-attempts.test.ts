import { randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import { v7 as uuidv7 } from 'uuid';
import { openMailboxes } from '../../../storage/operations/mailboxes.js';
import { findOperations } from '../../../storage/operations/operations.js';
import { type FirstAttempt, type NewOperation, submitOperations } from '../../../storage/operations/submission.js';
import { claimPartitions, renewLeases } from '../../../storage/partitions/partitions.js';
import { recoverPartition } from '../../../storage/partitions/recovery.js';
import type { Sql } from '../../../storage/postgres/database.js';
import { freshDatabase } from '../../fixture/database.js';
import { jobState } from '../../fixture/jobs.js';
import { insertSimulated, insertWorkspace } from '../../fixture/rows.js';

const STARTED_AT = '2026-01-02T03:04:05.678Z';

/** Operations of one connection, which ask to start with their acceptance. */
async function fixture(t: Test) {
  const { db } = await freshDatabase(t);
  const workspaceId = await insertWorkspace(db);
  const connection = await insertSimulated(db, workspaceId, 'ada');
  const node = randomUUID();
  await renewLeases(db, node, 60_000);
  const owned = await db.transaction((tx) => claimPartitions(tx, node, 64, 60_000));
  const mine = owned.find((one) => one.id === connection.partition)!;
  const operation = (key?: string): NewOperation => {
    const id = uuidv7();
    const hash = Buffer.alloc(32);
    const of = { workspaceId, connectionId: connection.id, partition: mine.id, capability: 'social.profile.get' };
    const given = { fingerprint: hash, input: '{}', inputSealed: null, acceptedAt: new Date() };
    return { id, ...of, ...given, idempotencyKey: key ?? id, keyHash: hash };
  };
  const attempt = (): FirstAttempt => ({ id: uuidv7(), phase: 'reading', started_at: STARTED_AT });
  /** Stores one that would start; gives what became of it, and its row. */
  const submit = async (
    one = operation(),
    { by = db, owns = [mine], open = [] }: { by?: Sql; owns?: (typeof mine)[]; open?: string[] } = {},
  ) => {
    const given = attempt();
    const [stored] = await submitOperations(by, [one], owns, open, new Map([[one.id, given]]));
    const [row] = await findOperations(by, [one.id]);
    return { stored, row, attempt: given, id: one.id };
  };
  return { db, connection, mine, operation, attempt, submit, workspaceId };
}

t.test(
  'an operation before which nothing stands is stored with its first attempt, and its history has both steps',
  async (t) => {
    const { db, connection, mine, submit } = await fixture(t);
    const { stored, row, attempt, id } = await submit();
    t.match(stored, {
      kind: 'created',
      handed: true,
      running: { id: connection.id, health: 'ready', state_revision: 0 },
    });
    t.equal(row?.status, 'running');
    t.strictSame(row?.attempts, [{ ...attempt, number: 1, status: 'running', state_revision: 0, completed_at: null }]);
    t.match(row?.timeline, [
      { from: null, to: 'queued', reason: 'submitted' },
      { from: 'queued', to: 'running', reason: 'started' },
    ]);
    t.equal(await jobState(db, connection.id), 'active');
    t.match(await db.query('testEpoch', 'select epoch from operation where id = $1', [id]), [{ epoch: mine.epoch }]);
    const next = await submit(undefined, { open: [connection.id] });
    t.match(next.stored, { handed: true, running: { id: connection.id } }, 'in a mailbox that is open as well');
  },
);

t.test('it is queued where something may stand before it, or another owner', async (t) => {
  const { db, connection, mine, operation, submit } = await fixture(t);
  const queued = { stored: { kind: 'created', running: undefined }, row: { status: 'queued', attempts: [] } };
  t.match(await submit(undefined, { owns: [] }), queued, 'the partition is not owned');
  t.match(await submit(undefined, { open: [connection.id] }), queued, 'the mailbox is due');
  const [
    {
      due: [due],
    } = { due: [] },
  ] = await openMailboxes(db, [mine], 1);
  t.equal(due?.connection_id, connection.id);
  t.match(await submit(), queued, 'it is open, and its caller does not have it');
  await openMailboxes(db, [mine], 1);
  t.match(
    await submit(undefined, { owns: [{ ...mine, epoch: mine.epoch + 1 }], open: [connection.id] }),
    queued,
    'another epoch',
  );
  await openMailboxes(db, [mine], 1);
  const canceled = operation();
  await db.query('testCancelThrough', 'update connection set cancel_through = $2 where id = $1', [
    connection.id,
    canceled.id,
  ]);
  t.match(
    await submit(canceled, { open: [connection.id] }),
    { stored: { kind: 'locked' } },
    'its id is of a clock that is behind: it would be canceled with what came before',
  );
  t.match(
    await submit(undefined, { open: [connection.id] }),
    { stored: { running: { id: connection.id } } },
    'and nothing after it',
  );
});

t.test('a repeat starts nothing, and of two in one batch the first one may start', async (t) => {
  const { db, mine, operation, attempt, submit } = await fixture(t);
  await submit(operation('key'));
  const { stored, row } = await submit(operation('key'));
  t.match(stored, { kind: 'replayed' });
  t.equal(row, undefined);
  const [one, two] = [operation(), operation()];
  const batch = await submitOperations(db, [one, two], [mine], [one.connectionId], new Map([[one.id, attempt()]]));
  t.match(batch, [{ running: { id: one.connectionId } }, { kind: 'created', handed: true, running: undefined }]);
});

t.test('what another node stores at the same time has no order to it: it starts, and the mailbox is due', async (t) => {
  const { db, connection, mine, operation, submit } = await fixture(t);
  const other = operation();
  let started: ReturnType<typeof submit> | undefined;
  await db.transaction(async (tx) => {
    await submitOperations(tx, [other], []);
    started = submit();
    await waitsForLock(db);
  });
  t.match(await started, { stored: { handed: false, running: { id: connection.id } }, row: { status: 'running' } });
  const [
    {
      due: [due],
    } = { due: [] },
  ] = await openMailboxes(db, [mine], 1);
  t.equal(due?.from, other.id, 'from the lowest of both on');
});

t.test('its owner is lost: it is queued again, as after any attempt before the boundary', async (t) => {
  const { db, mine, submit } = await fixture(t);
  const { id } = await submit();
  await db.query('testTake', 'update partition set epoch = epoch + 1 where id = $1', [mine.id]);
  t.match(await db.transaction((tx) => recoverPartition(tx, mine.id)), { queued: 1, jobs: 1 });
  const [row] = await findOperations(db, [id]);
  t.match(row, { status: 'queued', attempts: [{ number: 1, status: 'abandoned' }] });
});

async function waitsForLock(db: Sql): Promise<void> {
  for (;;) {
    const rows = await db.query(
      'testWaits',
      `select 1 as one from pg_stat_activity where wait_event_type = 'Lock'
      and datname = current_database()`,
    );
    if (rows.length > 0) return;
  }
}
