import { randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import { v7 as uuidv7 } from 'uuid';
import { AUDIT_START, type AuditPosition, auditEnd, followAudit } from '../../../storage/audit/entries.js';
import { recordAudit } from '../../../storage/audit/record.js';
import type { Database } from '../../../storage/postgres/database.js';
import { freshDatabase } from '../../fixture/database.js';
import { eventually } from '../../fixture/eventually.js';

/** `pg_dump` and restore into a new server keep `xact`; the new server's transactions begin anew. */

let inserts = 0;

/** Adds entries as a restore does: of transactions of another server. */
async function restore(db: Database, xacts: (number | string)[], age: string): Promise<AuditPosition[]> {
  const positions = xacts.map((xact) => ({ xact: String(xact), id: randomUUID() }));
  await db.query(
    `testRestored${inserts++}`,
    `insert into audit.entry (id, xact, actor_kind, action, at)
     select id, xact, 'cli', 'key.create', now() - $3::interval + n * interval '1 microsecond'
     from unnest($1::uuid[], $2::xid8[]) with ordinality i(id, xact, n)`,
    [positions.map(({ id }) => id), positions.map(({ xact }) => xact), age],
  );
  return positions;
}

/** Adds an entry, and waits until followers may see it: transactions of other tests on the same server stand before it. */
async function add(db: Database): Promise<void> {
  await db.transaction((tx) =>
    recordAudit(tx, {
      ...{ actor: { kind: 'command_line', id: null, name: null, address: null }, action: 'key.revoke' },
      ...{ workspaceId: null, targets: [], requestId: null },
    }),
  );
  const [now] = await db.query<{ end: string }>(
    'testEnd',
    'select pg_snapshot_xmax(pg_current_snapshot())::text as end',
  );
  await eventually(
    'none that began before is under way',
    () =>
      db.query<{ over: boolean }>('testOver', 'select pg_snapshot_xmin(pg_current_snapshot()) >= $1::xid8 as over', [
        now!.end,
      ]),
    ([row]) => row?.over === true,
  );
}

/** All that follows the position, `page` entries at a time. */
async function following(db: Database, from: AuditPosition, page: number): Promise<string[]> {
  const actions: string[] = [];
  for (let after: AuditPosition | undefined = from; after; ) {
    const rows: { id: string; xact: string; action: string }[] = await followAudit(db, null, after, page);
    actions.push(...rows.map(({ action }) => action));
    after = rows.at(-1);
  }
  return actions;
}

/** Of an entry that was written half an hour ago, after the backup was made. */
const lostEntry = (xact: string): AuditPosition => ({ xact, id: uuidv7({ msecs: Date.now() - 30 * 60_000 }) });

const CREATED = 'key.create';
const ADDED = 'key.revoke';

async function restored(t: Test) {
  const { db } = await freshDatabase(t);
  // Some of these the new server has counted already, and some it will.
  const { xact: end } = await auditEnd(db);
  const next = Number(end) + 20;
  const entries = await restore(db, [3, next, '900000000'], '1 hour');
  return { db, entries };
}

t.test('a follower of the audit log goes on behind a dump and restore', async (t) => {
  const { db, entries } = await restored(t);
  await add(db);
  const [oldest, , newest] = entries as [AuditPosition, AuditPosition, AuditPosition];
  t.strictSame(await following(db, newest, 10), [ADDED], 'who has the last entry of before gets the next one');
  t.strictSame(await following(db, oldest, 10), [CREATED, CREATED, ADDED]);
  for (const page of [1, 2, 10])
    t.strictSame(
      await following(db, AUDIT_START, page),
      [CREATED, CREATED, CREATED, ADDED],
      'who begins anew gets all',
    );
  t.strictSame(
    await following(db, lostEntry('900000007'), 10),
    [ADDED],
    'so does who has an entry that the dump did not',
  );
});

t.test('and behind a base backup that lacks what the follower has', async (t) => {
  const { db } = await freshDatabase(t);
  await restore(db, [3], '1 hour'); // of this server
  const lost = lostEntry(String(Number((await auditEnd(db)).xact) + 1_000));
  t.strictSame(await following(db, lost, 10), []);
  await add(db);
  t.strictSame(await following(db, lost, 10), [ADDED]);
});

t.test('each entry comes once while the new server counts past the transactions of the former one', async (t) => {
  const { db, entries } = await restored(t);
  let after = entries[2] as AuditPosition;
  for (let n = 0; n < 30; n++) {
    await add(db);
    const rows = await followAudit(db, null, after, 10);
    t.strictSame(
      rows.map(({ action }) => action),
      [ADDED],
    );
    after = rows[0] as AuditPosition;
  }
  t.equal((await following(db, AUDIT_START, 7)).length, 33);
  t.strictSame(await following(db, await auditEnd(db), 10), []);
  await restore(db, ['950000000'], '-1 hour');
  const last = (await followAudit(db, null, after, 10)).at(-1);
  t.match(last, { xact: '950000000' }, 'that dump was dumped and restored as well');
});
