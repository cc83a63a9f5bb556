import { randomBytes, randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import { v7 as uuidv7 } from 'uuid';
import { clearSession, lockIdleConnection } from '../../storage/connections/connection-changes.js';
import { closeGap, openGap } from '../../storage/connections/listeners.js';
import { unverifyRecruiter } from '../../storage/connections/session-effects.js';
import { listEvents } from '../../storage/deliveries/events.js';
import { recordHeard } from '../../storage/deliveries/events-record.js';
import { LIMITS } from '../../storage/limits.js';
import { ageOf } from '../../storage/maintenance/retention/erasure.js';
import { eraseInputs } from '../../storage/maintenance/retention/values.js';
import type { NewEvent } from '../../storage/model/records.js';
import { requestLook } from '../../storage/operations/looks.js';
import { readFilePart, storeFilePart } from '../../storage/operations/operation-files.js';
import type { Database, Sql } from '../../storage/postgres/database.js';
import { createSession } from '../../storage/workspaces/console-sessions.js';
import { createKey } from '../../storage/workspaces/keys.js';
import { freshDatabase } from '../fixture/database.js';
import { eventually } from '../fixture/eventually.js';
import { insertSocial, insertWorkspace } from '../fixture/rows.js';

/**
 * Statements that are late (STO-10): each waits for a lock with the view of its beginning, while the transaction that holds it changes what
 * the statement decides by.
 */
async function ground(t: Test) {
  const { db } = await freshDatabase(t);
  const workspaceId = await insertWorkspace(db);
  const connection = await insertSocial(db, workspaceId, 'ada');
  const attempt = { id: uuidv7(), partition: connection.partition, epoch: 7, attemptId: randomUUID() };
  const insertOperation = (id: string, status: string) =>
    db.query(
      'testOperation',
      `insert into operation (id, workspace_id, connection_id, partition, epoch, capability, status, idempotency_key, fingerprint, input, attempts)
       values ($1::uuid, $2, $3, $4, $5, 'social.file.download', $6, $1::uuid::text, '\\x00', '{}', $7)`,
      [
        ...[id, workspaceId, connection.id, connection.partition, attempt.epoch, status],
        JSON.stringify([{ id: attempt.attemptId }]),
      ],
    );
  return { db, workspaceId, connection, attempt, insertOperation };
}

/** Runs `late` while a transaction holds what `change` changes, and commits that once `late` waits for it. */
async function behind<T>(db: Database, change: (tx: Sql) => Promise<unknown>, late: () => Promise<T>): Promise<T> {
  let result: Promise<T> | undefined;
  await db.transaction(async (tx) => {
    await change(tx);
    result = late();
    result.catch(() => {});
    await eventually(
      'the statement waits for a lock',
      () =>
        db.query(
          'testWaits',
          `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
        ),
      (rows) => rows.length > 0,
    );
  });
  return result as Promise<T>;
}

t.test('an attempt that was recovered meanwhile writes nothing more', async (t) => {
  const { db, connection, attempt, insertOperation } = await ground(t);
  await insertOperation(attempt.id, 'running');
  const recovered = (tx: Sql) =>
    tx.query('testRecover', `update operation set status = 'queued' where id = $1`, [attempt.id]);
  const again = () => db.query('testAgain', `update operation set status = 'running' where id = $1`, [attempt.id]);

  const part = { part: 0, bytes: Buffer.from('x'), bound: null };
  t.equal(await behind(db, recovered, () => storeFilePart(db, attempt, part)), 'not_held', 'no part of its file');
  const file = { operationId: attempt.id, attemptId: attempt.attemptId, size: 1 };
  t.equal(await readFilePart(db, file, 0), undefined);
  await again();
  const unverify = () => unverifyRecruiter(db, attempt, { id: connection.id, state_revision: 1 });
  t.notOk(await behind(db, recovered, unverify), 'nor what its session has become');
  await again();
  t.ok(await unverify());
});

t.test('a gap is neither opened nor closed by who lost the partition meanwhile', async (t) => {
  const { db, connection } = await ground(t);
  const epoch = (value: number) => (sql: Sql) =>
    sql.query('testTake', 'update partition set epoch = $2 where id = $1', [connection.partition, value]);
  const open = () =>
    db.query('testOpen', 'select from listener_gap where connection_id = $1 and closed_at is null', [connection.id]);
  await epoch(2)(db);
  // The claim of a partition locks its row whole; a change of its epoch alone lets key shares by.
  const taken = (value: number) => async (tx: Sql) => {
    await tx.query('testClaim', 'select from partition where id = $1 for update', [connection.partition]);
    await epoch(value)(tx);
  };
  t.equal(await behind(db, taken(3), () => openGap(db, connection.id, 2, 'stream_closed')), undefined);
  t.equal((await open()).length, 0);
  await openGap(db, connection.id, 3, 'owner_changed');
  await behind(db, taken(4), () => closeGap(db, connection.id, 3));
  t.equal((await open()).length, 1, 'the gap is the next owner’s to close');
  await closeGap(db, connection.id, 4);
  t.equal((await open()).length, 0);
});

t.test('an event is not stored once the session that heard it has ended', async (t) => {
  const { db, workspaceId, connection } = await ground(t);
  const event = (providerEventId: string, heardUnder: number): NewEvent => ({
    ...{ connectionId: connection.id, providerEventId, heardUnder },
    ...{ type: 'message_received', data: {} },
  });
  const disconnect = async (tx: Sql) => {
    await lockIdleConnection(tx, connection.id);
    await clearSession(tx, connection.id);
  };
  const before = event('heard before', 1);
  const late = () => db.transaction((tx) => recordHeard(tx, workspaceId, [before, event('told', 2)]));
  const { recorded, refused } = await behind(db, disconnect, late);
  t.equal(recorded.length, 1);
  t.match(await listEvents(db, connection.id, 0, 10), [{ provider_event_id: 'told' }]);
  t.strictSame(refused, [before], 'that one alone');
});

t.test('sign-ins of one key at a time leave as many sessions as it may have', async (t) => {
  const { db, workspaceId } = await ground(t);
  const created = await createKey(db, { workspaceId, name: null, scopes: [], expiresAt: null });
  const key = { kind: 'key', id: created?.row.id, expires_at: null } as unknown as Parameters<
    typeof createSession
  >[1]['key'];
  const signIn = (tx: Sql) =>
    createSession(tx, { tokenHash: randomBytes(32), key, address: '127.0.0.1', userAgent: 'test' });
  for (let n = 0; n < LIMITS.key_sessions; n++) await db.transaction(signIn);
  await behind(db, signIn, () => db.transaction(signIn));
  const [left] = await db.query<{ sessions: number }>(
    'testSessions',
    'select count(*) as sessions from console_session',
  );
  t.equal(left?.sessions, LIMITS.key_sessions);
});

t.test('an input stays when a look was asked for while its row was being locked', async (t) => {
  const { db, insertOperation } = await ground(t);
  const now_ms = Date.now();
  const id = uuidv7({ msecs: now_ms - 10 * 24 * 60 * 60_000 });
  await insertOperation(id, 'outcome_unknown');
  await db.query('testOld', `update operation set updated_at = $2, looked_at = $2 where id = $1`, [
    id,
    new Date(now_ms - 9 * 24 * 60 * 60_000),
  ]);
  t.equal(await requestLook(db, id), 'requested');
  // What the statement gives whose view is older than the request.
  const older = (tx: Sql): Sql => ({
    vault: tx.vault,
    query: <Row extends object>(name: string, text: string, values?: unknown[]) =>
      name === 'lockOldInputs' ? Promise.resolve([{ id }] as unknown as Row[]) : tx.query<Row>(name, text, values),
  });
  const { erased } = await db.transaction((tx) =>
    eraseInputs(older(tx), null, ageOf(now_ms, 1), LIMITS.retention_rows),
  );
  t.equal(erased, 0);
  const [row] = await db.query<{ input: unknown }>('testInput', 'select input from operation where id = $1', [id]);
  t.strictSame(row?.input, {});
});
