import t, { type Test } from 'tap';
import { v7 as uuidv7 } from 'uuid';
import { changeCredentials, clearSession, markDeleted } from '../../../storage/connections/connection-changes.js';
import { oldestAnnouncement_s, tell } from '../../../storage/deliveries/announcements.js';
import type { RecordedEvent } from '../../../storage/deliveries/events-record.js';
import { createLogger } from '../../../storage/log/log.js';
import { announcer } from '../../../storage/maintenance/announcer.js';
import { cancelOperation } from '../../../storage/operations/operations.js';
import type { Database } from '../../../storage/postgres/database.js';
import { freshDatabase } from '../../fixture/database.js';
import { eventually } from '../../fixture/eventually.js';
import { insertSimulated, insertWorkspace } from '../../fixture/rows.js';
import { rowsRead } from '../../fixture/rows-read.js';

const log = createLogger({ level: 'silent', format: 'json' }, {});

async function fixture(t: Test) {
  const { db } = await freshDatabase(t);
  const workspaceId = await insertWorkspace(db);
  const connection = await insertSimulated(db, workspaceId, 'ada');
  return { db, workspaceId, connection, connectionId: connection.id };
}

async function insertOperation(db: Database, connectionId: string, status = 'queued'): Promise<string> {
  const id = uuidv7();
  await db.query(
    'testOperation',
    `insert into operation (id, workspace_id, connection_id, partition, capability, status, idempotency_key, fingerprint, input, epoch)
     select $1::uuid, workspace_id, id, partition, 'social.login', $3, 'key-' || $1::uuid, '', '{}', 1 from connection where id = $2`,
    [id, connectionId, status],
  );
  return id;
}

async function subscribe(db: Database, connectionId: string, types: string[], active = true): Promise<string> {
  const id = uuidv7();
  await db.query(
    'testSubscription',
    `insert into subscription (id, workspace_id, connection_id, partition, event_types, callback_url, active, secret_sealed)
     select $1, workspace_id, id, partition, $3, 'https://example.com/', $4, '' from connection where id = $2`,
    [id, connectionId, types, active],
  );
  return id;
}

const end = (db: Database, id: string, status = 'succeeded') =>
  db.query(
    'testEnd',
    `update operation set status = $2::text, result = case when $2::text = 'succeeded' then '{}'::jsonb end,
       error_code = case when $2::text = 'failed' then 'internal_error' end where id = $1`,
    [id, status],
  );

const events = (db: Database, connectionId: string) =>
  db.query<{ type: string; data: Record<string, unknown> }>(
    'testEvents',
    'select type, data from event where connection_id = $1 order by id',
    [connectionId],
  );

t.test('every change of health is told once, in its order, with its reason', async (t) => {
  const { db, connectionId } = await fixture(t);
  await db.transaction((tx) => clearSession(tx, connectionId));
  await db.transaction((tx) => clearSession(tx, connectionId));
  await db.transaction((tx) => changeCredentials(tx, connectionId, { passwordSealed: null, region: 'US' }));
  await db.query('testInvalid', `update connection set health = 'invalid' where id = $1`, [connectionId]);
  await db.query(
    'testHealth',
    `update connection set health = 'ready', health_reason = 'login_succeeded' where id = $1`,
    [connectionId],
  );
  t.equal((await tell(db, 100))?.announcements, 3);
  t.match(await events(db, connectionId), [
    { type: 'connection.needs_login', data: { previous_health: 'ready', reason: 'disconnected', state_revision: 1 } },
    { type: 'connection.invalid', data: { previous_health: 'needs_login', reason: null } },
    { type: 'connection.ready', data: { previous_health: 'invalid', reason: 'login_succeeded' } },
  ]);
  const [row] = await db.query(
    'testSince',
    `select health_reason, health_since > now() - interval '1 minute' as recent from connection`,
  );
  t.match(row, { health_reason: 'login_succeeded', recent: true });
});

t.test('what is rolled back is not told, and what is told is told once whoever is killed when', async (t) => {
  const { db, connectionId } = await fixture(t);
  await t.rejects(
    db.transaction(async (tx) => {
      await clearSession(tx, connectionId);
      throw new Error('killed');
    }),
  );
  t.equal(await oldestAnnouncement_s(db), undefined);
  await db.transaction((tx) => clearSession(tx, connectionId));
  await db.query('testTrap', `alter table event add constraint trap check (type <> 'connection.needs_login')`);
  await t.rejects(tell(db, 100), /trap/, 'killed while it is recorded');
  t.ok((await oldestAnnouncement_s(db))! >= 0);
  await db.query('testFree', 'alter table event drop constraint trap');
  const both = await Promise.all([tell(db, 100), tell(db, 100), tell(db, 100)]);
  t.equal(
    both.reduce((sum, told) => sum + (told?.announcements ?? 0), 0),
    1,
    'three at once',
  );
  t.equal((await events(db, connectionId)).length, 1);
});

t.test('an end is told, however it comes about, while an active subscription selects it', async (t) => {
  const { db, connectionId, workspaceId } = await fixture(t);
  const other = await insertSimulated(db, workspaceId, 'bob');
  await end(db, await insertOperation(db, connectionId, 'running'));
  t.equal(await oldestAnnouncement_s(db), undefined, 'nobody selects it');
  const quiet = await subscribe(db, connectionId, ['operation.finished'], false);
  await subscribe(db, other.id, ['operation.finished']);
  await end(db, await insertOperation(db, connectionId, 'running'));
  t.equal(await oldestAnnouncement_s(db), undefined, 'nor an inactive one, nor that of another connection');

  const running = await insertOperation(db, connectionId, 'running');
  const queued = await insertOperation(db, connectionId);
  await db.query('testActivate', 'update subscription set active = true where id = $1', [quiet]);
  await end(db, running, 'failed');
  await db.transaction((tx) => cancelOperation(tx, queued));
  await db.query('testAgain', `update operation set evidence_look = null, status = status where id = $1`, [running]);
  const told = await tell(db, 100);
  t.match(told, { announcements: 2, events: [{ deliveries: 1 }, { deliveries: 1 }] });
  t.match(await events(db, connectionId), [
    { type: 'operation.finished', data: { operation_id: running, status: 'failed', error_code: 'internal_error' } },
    { type: 'operation.finished', data: { operation_id: queued, status: 'canceled', error_code: null } },
  ]);
});

t.test('each challenge is told, and never a code', async (t) => {
  const { db, connectionId } = await fixture(t);
  const id = await insertOperation(db, connectionId, 'running');
  const wait = (challenge: object) =>
    db.query('testWait', `update operation set status = 'waiting_user', challenge = $2 where id = $1`, [
      id,
      JSON.stringify(challenge),
    ]);
  const challenge = { id: 'one', kind: 'sms', expires_at: 'soon', accepts_code: true, answered: false, tries: 0 };
  await wait(challenge);
  await wait({ ...challenge, answered: true });
  await wait({ ...challenge, id: 'two', tries: 1 });
  await tell(db, 100);
  const shown = { kind: 'sms', expires_at: 'soon', accepts_code: true };
  t.strictSame(
    (await events(db, connectionId)).map(({ data }) => data.challenge),
    [
      { id: 'one', ...shown },
      { id: 'two', ...shown },
    ],
  );
});

t.test('an exhausted delivery is told to who selects it, and one of such an event to nobody', async (t) => {
  const { db, connectionId } = await fixture(t);
  const subscription = await subscribe(db, connectionId, ['connection.needs_login', 'delivery.exhausted']);
  await db.transaction((tx) => clearSession(tx, connectionId));
  await tell(db, 100);
  const fail = () =>
    db.query(
      'testFail',
      `update delivery set status = 'failed', next_attempt_at = null, last_error = 'timeout', attempt_count = 5 where status = 'pending'`,
      [],
    );
  await fail();
  t.equal((await tell(db, 100))?.announcements, 1);
  const [, exhausted] = await events(db, connectionId);
  t.match(exhausted, {
    type: 'delivery.exhausted',
    data: {
      subscription_id: subscription,
      event_type: 'connection.needs_login',
      attempt_count: 5,
      last_error: 'timeout',
    },
  });
  await fail();
  t.equal(await oldestAnnouncement_s(db), undefined, 'that of this very event');
});

t.test('what belongs to a deleted connection is dropped', async (t) => {
  const { db, connectionId } = await fixture(t);
  await db.transaction((tx) => clearSession(tx, connectionId));
  await db.transaction((tx) => markDeleted(tx, connectionId));
  t.match(await tell(db, 100), { announcements: 1, events: [] });
  t.equal(await oldestAnnouncement_s(db), undefined);
});

/** The first thousand, and every hundredth of those behind them. */
const STUCK = 1_190;

t.test(
  'a long queue is told in batches, each reading its own rows, and what cannot be recorded holds up its connection alone',
  async (t) => {
    const { db, workspaceId, connectionId } = await fixture(t);
    const stuck = await insertSimulated(db, workspaceId, 'bob');
    await db.query(
      'testMany',
      `insert into announcement (workspace_id, connection_id, type, provider_event_id, data)
     select $1::uuid, case when n <= 1000 or n % 100 = 0 then $3::uuid else $2::uuid end, 'connection.ready', 'n' || n, '{}'
     from generate_series(1, 20000) n`,
      [workspaceId, connectionId, stuck.id],
    );
    await db.query('testTrap', `alter table event add constraint trap check (connection_id <> '${stuck.id}')`);
    const read = await db.transaction((tx) =>
      rowsRead(tx, 'announcement', () => tx.query('testOldest', 'select id from announcement order by id limit 200')),
    );
    t.match(read, { scanned: 0, found: 200 });
    const recorded: RecordedEvent[] = [];
    const waited: number[] = [];
    const both = [1, 2].map(() =>
      announcer({
        db,
        log,
        recorded: (more) => void recorded.push(...more),
        waits: (oldest_s) => void waited.push(oldest_s),
      }),
    );
    for (const one of both) one.start();
    const left = () => db.query<{ count: number }>('testLeft', 'select count(*)::int as count from announcement', []);
    await eventually('the others are told', left, ([row]) => row?.count === STUCK);
    t.equal((await events(db, connectionId)).length, 20_000 - STUCK);
    await db.query('testFree', 'alter table event drop constraint trap');
    await eventually('all are told', left, ([row]) => row?.count === 0);
    await Promise.all(both.map((one) => one.stop()));
    const order = await db.query<{ n: number }>(
      'testOrder',
      `select substr(provider_event_id, 2)::int as n from event where connection_id = $1 order by id`,
      [connectionId],
    );
    t.strictSame(
      order.map(({ n }) => n),
      order.map(({ n }) => n).sort((a, b) => a - b),
      'in their order',
    );
    t.ok(Math.max(...waited) > 0, 'and that they wait is told');
    t.equal(await oldestAnnouncement_s(db), undefined);
    t.strictSame(recorded, [], 'nobody is to be woken for events without deliveries');
  },
);
