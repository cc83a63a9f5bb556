import { randomBytes, randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { v7 as uuidv7 } from 'uuid';
import { erasePerson, findPerson, type PersonErasure } from '../../../storage/erasure/person.js';
import { isNamed, type PersonFields } from '../../../storage/erasure/person-fields.js';
import { cleanFiles, TABLES, TableInUse } from '../../../storage/erasure/rewrite.js';
import { LIMITS } from '../../../storage/limits.js';
import type { Vault } from '../../../storage/model/vault.js';
import type { Database, Sql } from '../../../storage/postgres/database.js';
import { DataVault } from '../../../storage/secrets/data-vault.js';
import { keyRing } from '../../../storage/secrets/encryption.js';
import { inputContext, resultContext } from '../../../storage/secrets/sealing.js';
import { cluster } from '../../fixture/cluster.js';
import { freshDatabase } from '../../fixture/database.js';
import { recorded } from '../../fixture/recorded.js';
import { rewriting } from '../../fixture/rewrites.js';
import { insertSimulated, insertWorkspace } from '../../fixture/rows.js';
import { rowsRead } from '../../fixture/rows-read.js';
import { longTest } from '../../fixture/size.js';
import { insertDeliveries, insertOperations } from '../../server/rows.js';
import { insertSubscription } from '../maintenance/retention/fixture.js';

t.test('a person is named by a whole value, or by the address of their profile', async (t) => {
  const isAda = isNamed('ada-l');
  for (const name of [
    'ada-l',
    'ADA-L',
    'https://social.test/in/ada-l',
    'https://social.test/in/ada-l/',
    'https://social.test/in/%61da-L?by=me#top',
  ])
    t.equal(isAda(['grace', name]), true, name);
  for (const name of [
    ...[
      'ada',
      'ada-l ',
      'said ada-l',
      'urn:li:person:ada-l',
      'in/ada-l',
      'https://ada-l',
      'https://social.test/ada-l/about',
    ],
    ...['https://social.test/in/%zz', 'https://', 'https://social.test/?q=ada-l', ''],
  ])
    t.equal(isAda([name]), false, name);
  t.equal(isNamed('a.b+c@example.com')(['A.B+C@example.com']), true);
  t.equal(isNamed('a.b@example.com')(['aXb@example.com']), false);
  t.equal(isAda([]), false);
});

/** Of these tests: people are named by profile ids in inputs, by addresses in results, and by who sent a message. */
const fields: PersonFields = {
  input: (_, input) => ids(input, 'profile_id'),
  result: (_, result) => ids(result, 'profile_url'),
  event: (data) => ids(data, 'sender_hash_id'),
};
const ids = (value: unknown, field: string): string[] =>
  value instanceof Object && field in value ? [(value as Record<string, string>)[field] ?? ''] : [];

const ring = keyRing([{ id: 'test', key: randomBytes(32) }]);

/** One that seals, or one that stores plain values. */
const vaultOf = (sealing: boolean): DataVault => new DataVault(sealing ? ring : keyRing([]));

type Status = 'succeeded' | 'failed' | 'outcome_unknown' | 'queued';

async function operation(
  db: Sql,
  vault: Vault,
  connectionId: string,
  status: Status,
  { input = {}, result = {}, evidence = null as object | null },
): Promise<string> {
  const id = uuidv7();
  const given = vault.store(JSON.stringify(input), inputContext(id));
  const found = status === 'succeeded' ? vault.store(JSON.stringify(result), resultContext(id)) : null;
  await db.query(
    'testOperation',
    `insert into operation (id, workspace_id, connection_id, partition, capability, status, idempotency_key, fingerprint, input,
       input_sealed, result, result_sealed, error_code, evidence)
     select $1, workspace_id, id, partition, 'social.profile.get', $3, $4, '\\x00', $5, $6, $7, $8,
       case when $3 = 'failed' then 'worker_lost' end, $9 from connection where id = $2`,
    [
      ...[
        id,
        connectionId,
        status,
        randomUUID(),
        given.plain,
        given.sealed,
        found?.plain ?? null,
        found?.sealed ?? null,
      ],
      evidence && JSON.stringify(evidence),
    ],
  );
  return id;
}

async function setUp(t: Test, sealing: boolean) {
  const vault = vaultOf(sealing);
  const { db } = await freshDatabase(t, vault);
  const workspaceId = await insertWorkspace(db);
  const { id: connectionId } = await insertSimulated(db, workspaceId, 'owner');
  const subscriptionId = await insertSubscription(db, connectionId);
  const event = async (workspace: string, connection: string, data: Record<string, unknown>) => {
    const type = 'message_received' as const;
    const [row] = await recorded(db, workspace, [
      { connectionId: connection, providerEventId: randomUUID(), type, data },
    ]);
    return row!.id;
  };
  const delivered = () =>
    db.query(
      'testDelivered',
      `update delivery set status = 'delivered', delivered_at = now(), next_attempt_at = null where status = 'pending'`,
    );
  return { db, vault, workspaceId, connectionId, subscriptionId, event, delivered };
}

const idsOf = async (db: Database, table: 'event' | 'delivery' | 'event_position', column = 'id'): Promise<string[]> =>
  (await db.query<{ id: string }>(`testIds ${table}`, `select ${column} as id from ${table} order by 1`)).map(
    ({ id }) => id,
  );

for (const sealing of [false, true]) {
  t.test(
    `what names the person goes, and nothing else, of what is stored ${sealing ? 'sealed' : 'plain'}`,
    async (t) => {
      const { db, vault, workspaceId, connectionId, event, delivered, subscriptionId } = await setUp(t, sealing);
      const elsewhere = await insertWorkspace(db);
      const other = (await insertSimulated(db, elsewhere, 'other')).id;
      const by = (status: Status, values: Parameters<typeof operation>[4], connection = connectionId) =>
        operation(db, vault, connection, status, values);
      const named = [
        await by('succeeded', { input: { profile_id: 'ada' } }),
        await by('succeeded', { result: { profile_url: 'https://social.test/in/ada' } }),
        await by('failed', { input: { profile_id: 'ADA' } }),
        await by('outcome_unknown', { input: { profile_id: 'ada' }, evidence: { fault: 'worker_lost' } }),
      ];
      const details = { retryable: false, errors: [{ path: 'input.profile_id', expected: 'an id', value: 'ADA' }] };
      await db.query('testDetails', 'update operation set error_details = $2 where id = $1', [named[2], details]);
      const kept = [
        await by('succeeded', { input: { profile_id: 'adam' }, result: { name: 'ada' } }),
        await by('succeeded', { input: { profile_id: 'ada' } }, other),
      ];
      const running = await by('queued', { input: { profile_id: 'ada' } });
      const said = [await event(workspaceId, connectionId, { sender_hash_id: 'ada', body: 'hello' })];
      await delivered();
      const stays = [
        await event(workspaceId, connectionId, { sender_hash_id: 'adam', body: 'ada' }),
        await event(elsewhere, other, { sender_hash_id: 'ada' }),
      ];
      await delivered();
      const pending = await event(workspaceId, connectionId, { sender_hash_id: 'ada' });
      const told: string[] = [];
      const person = { person: 'ada', workspaceId, fields, vault, progress: () => {} };
      const erase = (of = person as PersonErasure) =>
        erasePerson(db, of, async (_, workspaceIds) => void told.push(...workspaceIds));
      const shown = await findPerson(db, person);
      t.match(shown, { erased: { operations: 4, events: 2 }, remaining: { operations: 1 } });
      t.strictSame(
        [...shown.workspaces],
        [[workspaceId, { connections: 0, operations: 5, events: 2, invitations: 0 }]],
      );
      const everywhere = await findPerson(db, { ...person, workspaceId: null });
      t.match(everywhere.workspaces.get(elsewhere), { operations: 1, events: 1 });
      const first = await erase();
      t.match(first, {
        erased: { operations: 4, events: 1, deliveries: 1 },
        remaining: { operations: 1, events: 1, deliveries: 0 },
      });
      const rows = await db.query<{ id: string; empty: boolean; marked: boolean; error_details: object | null }>(
        'testRows',
        `select id, num_nonnulls(input, input_sealed, result, result_sealed, evidence) = 0 as empty,
         input_erased_at is not null as marked, error_details from operation order by id`,
      );
      for (const { id, empty, marked, error_details } of rows) {
        t.strictSame([empty, marked], Array(2).fill(named.includes(id)), id);
        t.strictSame(error_details, id === named[2] ? { retryable: false } : null, 'a failure still tells what to do');
      }
      t.strictSame(rows.map(({ id }) => id).sort(), [...named, ...kept, running].sort(), 'the operations stay');
      t.strictSame(await idsOf(db, 'event'), [...stays, pending].sort());
      t.strictSame(await idsOf(db, 'event_position', 'event_id'), [...stays, pending].sort());
      t.strictSame(told, Array(5).fill(workspaceId), 'its workspace is told of what went');
      t.notOk(said.includes(pending));
      t.equal((await idsOf(db, 'delivery')).length, 2);
      const [counted] = await db.query<{ deliveries: number }>(
        'testCounted',
        'select deliveries from erased_deliveries where subscription_id = $1',
        [subscriptionId],
      );
      t.equal(counted?.deliveries, 1);

      await db.query('testEnd', `update operation set status = 'canceled' where status = 'queued'`);
      await delivered();
      const none = { connections: 0, operations: 0, events: 0, deliveries: 0, invitations: 0 };
      t.strictSame(await erase(), { erased: { ...none, operations: 1, events: 1, deliveries: 1 }, remaining: none });
      t.strictSame(await erase(), { erased: none, remaining: none }, 'what is gone is found no more');
      t.match(await erase({ ...person, workspaceId: null }), { erased: { operations: 1, events: 1 } });
      t.strictSame(told.slice(-2), [elsewhere, elsewhere]);
    },
  );
}

t.test('a slice reads as many rows as it takes, whatever there is, and one that breaks is repeated', async (t) => {
  const { db, vault, workspaceId, connectionId, subscriptionId } = await setUp(t, false);
  await insertOperations(db, connectionId, 10_000);
  await insertDeliveries(db, subscriptionId, Array(5_000).fill('delivered'));
  for (let i = 0; i < 3; i++) await operation(db, vault, connectionId, 'succeeded', { input: { profile_id: 'ada' } });
  await db.query('testFrom', `update event set data = '{"sender_hash_id": "ada"}'`);
  const { transaction } = db;
  const most = { operation: 0, event: 0, event_position: 0 };
  let slices = 0;
  db.transaction = (work) =>
    transaction(async (tx) => {
      if (++slices === 20) throw new Error('killed');
      let whole = () => work(tx);
      for (const table of Object.keys(most) as (keyof typeof most)[]) {
        const part = whole;
        whole = async () => {
          const { given, scanned, found } = await rowsRead(tx, table, part);
          most[table] = Math.max(most[table], scanned + found);
          return given;
        };
      }
      return whole();
    });
  const erase = () =>
    erasePerson(db, { person: 'ada', workspaceId, fields, vault, progress: () => {} }, async () => {});
  await t.rejects(erase(), /killed/);
  t.match(await erase(), { erased: { operations: 3, events: 5_000 }, remaining: { operations: 0, events: 0 } });
  db.transaction = transaction;
  for (const [table, rows] of Object.entries(most)) t.ok(rows <= 3 * LIMITS.erasure_rows, `${rows} rows of ${table}`);
  t.strictSame(await idsOf(db, 'event_position', 'event_id'), []);
});

/** PostgreSQL's, such as 15. */
async function versionOf(db: Database): Promise<number> {
  const [row] = await db.query<{ version: number }>(
    'testVersion',
    `select current_setting('server_version_num')::int / 10000 as version`,
  );
  return row!.version;
}

/** The files of the database that hold the text. */
async function filesWith(db: Database, text: string): Promise<string[]> {
  const [row] = await db.query<{ oid: number }>(
    'testFolder',
    'select oid::int from pg_database where datname = current_database()',
  );
  const folder = join((await cluster()).files, 'base', String(row!.oid));
  const found: string[] = [];
  for (const file of await readdir(folder)) {
    const bytes = await readFile(join(folder, file)).catch(() => Buffer.alloc(0)); // dropped meanwhile
    if (!bytes.includes(text)) continue;
    const [relation] = await db.query<{ name: string | null }>(
      'testRelation',
      'select pg_filenode_relation(0, $1::oid)::regclass::text as name',
      [file.replace(/[._].*/, '')],
    );
    found.push(relation?.name ?? file);
  }
  return found;
}

t.test('no file of the tables or indexes has what was erased, once they were written anew', async (t) => {
  const { db, vault, workspaceId, connectionId, event, delivered } = await setUp(t, false);
  const person = `person${randomBytes(12).toString('hex')}`;
  await db.query('testStatistics', 'analyze');
  for (let i = 0; i < 30; i++) {
    const long = Array.from({ length: 200 }, () => randomUUID()).join(' ');
    await operation(db, vault, connectionId, 'succeeded', {
      input: { profile_id: person },
      result: { about: person, text: i % 3 === 0 ? long : 'short' },
    });
    await event(workspaceId, connectionId, { sender_hash_id: person, body: 'hello' });
    await operation(db, vault, connectionId, 'succeeded', { input: { profile_id: 'adam' } });
  }
  // A version before 18 keeps its samples of a table that is empty.
  if ((await versionOf(db)) < 18) await event(workspaceId, connectionId, { conversation_id: 'adam', body: 'hello' });
  await delivered();
  await db.query('testAnalyze', 'analyze');
  await rewriting(() => cleanFiles(db, true, () => {}));
  t.ok((await filesWith(db, person)).length > 0, 'it is in files before: a rewrite writes them out');
  const { erased } = await erasePerson(
    db,
    { person, workspaceId: null, fields, vault, progress: () => {} },
    async () => {},
  );
  t.match(erased, { operations: 30, events: 30, deliveries: 30 });
  await cleanFiles(db, false, () => {});
  t.comment(`after a plain vacuum it is in ${(await filesWith(db, person)).length} files`);
  await rewriting(() => cleanFiles(db, true, () => {}));
  t.strictSame(await filesWith(db, person), []);
});

longTest(t, 'all whose rows go with a connection is written anew', async (t) => {
  const { db } = await setUp(t, false);
  const rows = await db.query<{ name: string }>(
    'testGoesAlong',
    `with recursive goes as (
       select 'connection'::regclass::oid as id
       union select c.conrelid from pg_constraint c join goes on goes.id = c.confrelid where c.contype = 'f' and c.confdeltype = 'c')
     select id::regclass::text as name from goes`,
  );
  t.strictSame(
    rows.map(({ name }) => name).filter((name) => !TABLES.some((table) => table === name)),
    [],
  );
});

longTest(t, 'a table that is in use is not waited for without end, and nobody behind it is', async (t) => {
  const { db } = await setUp(t, false);
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const holding = db.transaction(async (tx) => {
    await tx.query('testHold', 'select from operation limit 0');
    await tx.query('testLock', 'lock table operation in access share mode');
    await held;
  });
  const refused = await rewriting(() => cleanFiles(db, true, () => {})).catch((error: unknown) => error);
  release();
  await holding;
  t.ok(refused instanceof TableInUse && refused.message === 'operation', String(refused));
});
