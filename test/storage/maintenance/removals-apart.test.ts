import t from 'tap';
import { markDeleted } from '../../../storage/connections/connection-changes.js';
import { createLogger } from '../../../storage/log/log.js';
import { Removals } from '../../../storage/maintenance/removals.js';
import type { Database } from '../../../storage/postgres/database.js';
import { insertConnection, insertSubscription } from '../../actors/deliveries/delivery-host.js';
import { freshDatabase } from '../../fixture/database.js';
import { eventually } from '../../fixture/eventually.js';
import { insertSimulated, insertWorkspace } from '../../fixture/rows.js';
import { insertQueue } from '../../server/rows.js';

const log = createLogger({ level: 'silent', format: 'json' }, {});

const insertGaps = (db: Database, connectionId: string, count: number) =>
  db.query(
    'testGaps',
    `insert into listener_gap (id, connection_id, reason, closed_at) select gen_random_uuid(), $1, 'test', now() from generate_series(1, $2)`,
    [connectionId, count],
  );

const left = (db: Database) => db.query<{ actor_id: string }>('testLeft', 'select actor_id from connection');

/** Statements that delete gaps reach their time limit, as `which` says. */
async function trap(db: Database, which: string): Promise<void> {
  await db.query(
    'testFails',
    `create function fails() returns trigger language plpgsql as $$ begin
       if ${which} then
         raise exception 'canceling statement due to statement timeout' using errcode = 'query_canceled';
       end if;
       return null; end $$`,
  );
  await db.query(
    'testTrap',
    'create trigger trap after delete on listener_gap referencing old table as gone for each statement execute function fails()',
  );
}

t.test('a connection that cannot be removed holds up no other', async (t) => {
  const { db } = await freshDatabase(t);
  const workspaceId = await insertWorkspace(db);
  const bad = await insertSimulated(db, workspaceId, 'bad');
  const good = await insertSimulated(db, workspaceId, 'good');
  await insertGaps(db, bad.id, 1);
  await trap(db, `exists (select from gone where connection_id = '${bad.id}')`);
  for (const { id } of [bad, good]) await db.transaction((tx) => markDeleted(tx, id));
  const removals = new Removals({ db, log, settle_ms: 100 });
  removals.start();
  await eventually(
    'the other one is removed',
    () => left(db),
    (rows) => rows.length === 1,
  );
  t.strictSame(await left(db), [{ actor_id: 'bad' }]);
  await db.query('testFree', 'drop trigger trap on listener_gap');
  await eventually(
    'it is removed once it can be',
    () => left(db),
    (rows) => rows.length === 0,
  );
  await removals.stop();
});

t.test('where a slice takes too long, smaller ones are taken', async (t) => {
  const { db } = await freshDatabase(t);
  const { id } = await insertSimulated(db, await insertWorkspace(db), 'ada');
  await insertGaps(db, id, 500);
  await trap(db, '(select count(*) > 100 from gone)');
  await db.transaction((tx) => markDeleted(tx, id));
  const removals = new Removals({ db, log, settle_ms: 100 });
  removals.start();
  await eventually(
    'it is removed',
    () => left(db),
    (rows) => rows.length === 0,
  );
  await removals.stop();
});

t.test('the used keys of a connection are noted only a while after it was hidden', async (t) => {
  const { db } = await freshDatabase(t);
  const [young, old, kept] = [await insertConnection(db), await insertConnection(db), await insertConnection(db)];
  for (const { id } of [young, old]) {
    await insertQueue(db, id, 1);
    await db.transaction((tx) => markDeleted(tx, id));
  }
  await db.query('testOld', `update connection set deleted_at = now() - interval '2 hours' where id = $1`, [old.id]);
  const last = await insertSubscription(db, kept, 'https://receiver.test/');
  await db.query('testDeleted', 'update subscription set deleted_at = now() where id = $1', [last]);
  const removals = new Removals({ db, log, settle_ms: 60 * 60_000 });
  removals.start();
  await eventually(
    'what comes last in a round is done',
    () => db.query('testLast', 'select from subscription where id = $1', [last]),
    (rows) => rows.length === 0,
  );
  await removals.stop();
  const noted = await db.query('testNoted', 'select workspace_id from idempotency_tombstone');
  t.strictSame(noted, [{ workspace_id: old.workspaceId }]);
  t.equal((await left(db)).length, 3, 'none is removed as soon');
});
