import t from 'tap';
import { LIMITS } from '../../../storage/limits.js';
import { measureStored, noteStored, storedBytes } from '../../../storage/maintenance/stored.js';
import type { Database, Sql } from '../../../storage/postgres/database.js';
import { setOwnLimit } from '../../../storage/workspaces/limits.js';
import { countingBlocks } from '../../fixture/blocks-read.js';
import { freshDatabase } from '../../fixture/database.js';
import { insertSimulated, insertWorkspace } from '../../fixture/rows.js';
import { insertOperations } from '../../server/rows.js';

const due = (db: Sql) => db.query('testDue', 'update stored_turn set due_at = now()');
const bytesOf = async (db: Sql, id: string) => (await storedBytes(db, [id])).get(id);

/** Measures until the installation rests. */
async function measureAll(db: Database, bound: number | null = null): Promise<void> {
  await due(db);
  while (await measureStored(db, bound));
}

async function limited(db: Sql): Promise<string> {
  const id = await insertWorkspace(db);
  await setOwnLimit(db, { workspace_id: id, name: 'stored_mib', value: 1 });
  return id;
}

/** What is stored by a sum over everything. */
async function summed(db: Sql, workspaceId: string): Promise<number | undefined> {
  const [row] = await db.query<{ bytes: number }>(
    'testSum',
    `select coalesce(sum(coalesce(pg_column_size(input), 0) + coalesce(pg_column_size(result), 0)), 0)::bigint
       + coalesce((select sum(pg_column_size(f.bytes)) from operation_file f join operation p on p.id = f.operation_id
         where p.workspace_id = $1), 0)::bigint
       + coalesce((select sum(80 + 4 + 23) from audit.entry e where e.workspace_id = $1), 0)::bigint as bytes
     from operation where workspace_id = $1`,
    [workspaceId],
  );
  return row?.bytes;
}

t.test(
  'what limited workspaces store is measured, slice by slice, and what is erased is missing the next time',
  async (t) => {
    const { db } = await freshDatabase(t);
    const [one, other, unlimited] = [await limited(db), await limited(db), await insertWorkspace(db)];
    for (const [id, count] of [
      [one, 2 * LIMITS.stored_slice_rows + 7],
      [other, 3],
      [unlimited, 5],
    ] as const)
      await insertOperations(db, (await insertSimulated(db, id, 'ann')).id, count);
    await db.query(
      'testFile',
      `insert into operation_file (operation_id, attempt_id, part, bytes)
     select id, gen_random_uuid(), 0, decode(repeat('ab', 5000), 'hex') from operation where workspace_id = $1 limit 2`,
      [other],
    );
    await db.query(
      'testEntries',
      `insert into audit.entry (id, workspace_id, actor_kind, action, at)
       select gen_random_uuid(), $1, 'key', 'operation.reveal_input', now() - make_interval(mins => n / 3) from generate_series(1, $2::int) n`,
      [one, 2 * LIMITS.stored_slice_rows + 3],
    );
    await measureAll(db);
    for (const id of [one, other]) t.equal(await bytesOf(db, id), await summed(db, id));
    t.ok((await summed(db, one))! > 60 * 2 * LIMITS.stored_slice_rows, 'entries of the audit log count');
    t.equal(await bytesOf(db, unlimited), undefined, 'nobody asks for it');
    await db.query('testErase', 'delete from operation where workspace_id = $1', [one]);
    const bound = 1_000_000;
    await measureAll(db, bound);
    t.equal(await bytesOf(db, one), await summed(db, one), 'its entries are left');
    t.equal(
      await bytesOf(db, unlimited),
      undefined,
      'where all are limited, of those that accepted nothing nobody asks either',
    );
    await noteStored(db, new Map([[unlimited, 7]]));
    await measureAll(db, bound);
    const took = await summed(db, unlimited);
    t.equal(await bytesOf(db, unlimited), took);
    await db.query('testErase', 'delete from operation where workspace_id = $1', [unlimited]);
    await measureAll(db, bound);
    t.equal(
      await bytesOf(db, unlimited),
      took,
      'what is far below the bound and accepted nothing is not looked at again',
    );
    await measureAll(db, took);
    t.equal(await bytesOf(db, unlimited), 0, 'what is near it is');
  },
);

t.test('what is accepted while it is measured counts once, and what a crash cuts off is repeated', async (t) => {
  const { db } = await freshDatabase(t);
  const id = await limited(db);
  const { id: connectionId } = await insertSimulated(db, id, 'ann');
  await insertOperations(db, connectionId, LIMITS.stored_slice_rows + 1);
  await noteStored(db, new Map([[id, 1_000]]));
  t.equal(await bytesOf(db, id), 1_000, 'as far as is known');
  const before = (await summed(db, id)) ?? 0;
  await due(db);
  t.ok(await measureStored(db, null), 'it begins');
  await insertOperations(db, connectionId, 10);
  await noteStored(db, new Map([[id, 500]]));
  const cut = { ...db, transaction: <T>(work: (tx: Sql) => Promise<T>) => db.transaction((tx) => crashing(work(tx))) };
  await t.rejects(measureStored(cut as Database, null), /crashed/);
  while (await measureStored(db, null));
  t.equal(await bytesOf(db, id), before + 500);
  await measureAll(db);
  t.equal(await bytesOf(db, id), await summed(db, id), 'the next time what was accepted is measured');
});

async function crashing<T>(work: Promise<T>): Promise<T> {
  await work;
  throw new Error('crashed');
}

t.test('of several that measure at once one does, and notes hold up nobody', async (t) => {
  const { db } = await freshDatabase(t);
  const id = await limited(db);
  await insertOperations(db, (await insertSimulated(db, id, 'ann')).id, 3 * LIMITS.stored_slice_rows);
  await due(db);
  const measuring = async () => {
    for (let idle = 0; idle < 20; ) idle = (await measureStored(db, null)) ? 0 : idle + 1;
  };
  const noting = async () => {
    for (let n = 0; n < 50; n++) await noteStored(db, new Map([[id, 1]]));
  };
  await Promise.all([measuring(), measuring(), measuring(), noting(), noting()]);
  await measureAll(db);
  t.equal(await bytesOf(db, id), await summed(db, id));
  await noteStored(db, new Map([['01998000-0000-7000-8000-0000000000a1', 1]])); // of a workspace that is gone
});

t.test('a slice costs the same however much is stored', async (t) => {
  const { db } = await freshDatabase(t);
  const cost = async (count: number) => {
    const id = await limited(db);
    await insertOperations(db, (await insertSimulated(db, id, 'ann')).id, count);
    await db.query('analyze', 'analyze operation');
    let most = 0;
    const counting = {
      ...db,
      transaction: <T>(work: (tx: Sql) => Promise<T>) =>
        db.transaction(async (tx) => {
          const sql = countingBlocks(tx);
          const done = await work({
            ...sql,
            query: async (name, text, values) => {
              const rows = await sql.query(name, text, values);
              if (name === 'sliceOfStored') most = Math.max(most, sql.blocks);
              return rows as never;
            },
          });
          return done;
        }),
    };
    await due(db);
    while (await measureStored(counting as Database, null));
    return most;
  };
  const few = await cost(2 * LIMITS.stored_slice_rows);
  const many = await cost(30_000);
  t.comment(`${few} and ${many} blocks`);
  t.ok(many < 2 * few + 100, `${few} and ${many} blocks`);
});
