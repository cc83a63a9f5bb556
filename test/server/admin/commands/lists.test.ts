import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CommanderError } from 'commander';
import t, { type Test } from 'tap';
import { v7 as uuidv7 } from 'uuid';
import { durationInWords } from '../../../../server/admin/duration-words.js';
import { adminProgram } from '../../../../server/admin/program.js';
import { VERSION } from '../../../../server/start/version.js';
import { freshDatabase } from '../../../fixture/database.js';
import { recorded } from '../../../fixture/recorded.js';
import { insertSimulated, insertSocial, insertWorkspace } from '../../../fixture/rows.js';

const UNKNOWN = '00000000-0000-7000-8000-000000000000';

/** The command line without a process of its own, on a database of its own; what it answers is as it is printed. */
async function operator(t: Test) {
  const { url, db } = await freshDatabase(t);
  const answer = async (args: string[], env: Record<string, string> = {}) =>
    JSON.parse((await adminProgram({ DATABASE_URL: url, ...env }, args)).text);
  return { db, answer };
}

t.test(
  'operations, connections and deliveries are listed page by page, newest first, without what is sealed',
  async (t) => {
    const { db, answer } = await operator(t);
    const [mine, other] = [await insertWorkspace(db), await insertWorkspace(db)];
    const ada = await insertSimulated(db, mine, 'ada');
    const grace = await insertSimulated(db, other, 'grace');
    const eve = await insertSocial(db, mine, 'eve@example.com');
    await db.query('testHealth', `update connection set health = 'needs_login' where id = $1`, [eve.id]);
    const insert = async (one: { id: string; partition: number }, workspaceId: string, status: string) => {
      const id = uuidv7();
      await db.query(
        'testOperation',
        `insert into operation (id, workspace_id, connection_id, partition, capability, status, idempotency_key, fingerprint, input,
         error_code)
       values ($1::uuid, $2, $3, $4, 'social.identity.get', $5, $6, '', '{"secret":"input"}', case when $5::text = 'failed' then 'worker_lost' end)`,
        [id, workspaceId, one.id, one.partition, status, id],
      );
      return id;
    };
    const made: string[] = [];
    for (const status of ['queued', 'failed', 'queued']) made.unshift(await insert(ada, mine, status));
    const foreign = await insert(grace, other, 'queued');
    const ids = (rows: { operation_id: string }[]) => rows.map((row) => row.operation_id);

    const all = await answer(['operation', 'list']);
    t.same(ids(all.operations), [foreign, ...made]);
    t.equal(all.next_cursor, null);
    t.same(Object.keys(all.operations[1]).sort(), [
      ...['age', 'attempts', 'cancel_requested', 'capability', 'connection_id', 'created_at', 'error_code'],
      ...['operation_id', 'status', 'updated_at', 'workspace_id'],
    ]);
    t.match(all.operations[1], { workspace_id: mine, connection_id: ada.id, attempts: 0, age: /^\d+ s$/ });
    const page = ['operation', 'list', '--workspace', mine, '--limit', '2'];
    const first = await answer(page);
    t.same(ids(first.operations), made.slice(0, 2));
    const second = await answer([...page, '--cursor', first.next_cursor]);
    t.same([ids(second.operations), second.next_cursor], [made.slice(2), null]);
    const full = await answer(['operation', 'list', '--workspace', mine, '--limit', '3']);
    t.same([ids(full.operations), full.next_cursor], [made, null], 'a full page that is the last');
    const failed = await answer(['operation', 'list', '--connection', ada.id, '--status', 'failed']);
    t.match(failed.operations, [{ operation_id: made[1], error_code: 'worker_lost' }]);
    t.same((await answer(['operation', 'list', '--connection', ada.id, '--workspace', other])).operations, []);

    const names = ({ connections }: { connections: { account: string }[] }) => connections.map((row) => row.account);
    const everybody = await answer(['connection', 'list']);
    t.same(names(everybody), ['eve@example.com', 'grace', 'ada']);
    t.same(Object.keys(everybody.connections[0]).sort(), [
      ...[
        'account',
        'age',
        'connection_id',
        'created_at',
        'health',
        'provider',
        'region',
        'state_revision',
        'workspace_id',
      ],
    ]);
    const ofMine = ['connection', 'list', '--workspace', mine];
    t.same(names(await answer(ofMine)), ['eve@example.com', 'ada']);
    const { next_cursor } = await answer([...ofMine, '--limit', '1']);
    t.same(names(await answer([...ofMine, '--cursor', next_cursor])), ['ada']);
    t.same(names(await answer(['connection', 'list', '--health', 'needs_login'])), ['eve@example.com']);

    const subscription = uuidv7();
    await db.query(
      'testSubscribe',
      `insert into subscription (id, workspace_id, connection_id, partition, event_types, callback_url, active, secret_sealed)
     values ($1, $2, $3, $4, '{message_received}', 'https://receiver.test/', true, '')`,
      [subscription, mine, ada.id, ada.partition],
    );
    for (const providerEventId of ['one', 'two']) {
      await recorded(db, mine, [{ connectionId: ada.id, providerEventId, type: 'message_received', data: {} }]);
    }
    await db.query(
      'testFail',
      `update delivery set status = 'failed', next_attempt_at = null, last_error = 'timeout'
     where id = (select id from delivery order by id limit 1)`,
    );
    t.equal((await answer(['delivery', 'list', '--workspace', mine])).deliveries.length, 2);
    t.same((await answer(['delivery', 'list', '--workspace', other])).deliveries, []);
    t.match((await answer(['delivery', 'list', '--failed'])).deliveries, [
      { subscription_id: subscription, workspace_id: mine, status: 'failed', last_error: 'timeout', attempt_count: 0 },
    ]);
    for (const wrong of [
      ['--limit', '101'],
      ['--status', 'gone'],
      ['--cursor', 'next'],
    ]) {
      await t.rejects(answer(['delivery', 'list', ...wrong]), CommanderError, wrong.join(' '));
    }
  },
);

t.test('a command that looks makes no database, and one that makes something does', async (t) => {
  const { db, answer } = await operator(t);
  const folder = `${t.testdir()}/data`;
  const none = { DATABASE_URL: '', DATA_DIR: folder };
  for (const args of [
    ['workspace', 'list'],
    ['key', 'create', '--workspace', UNKNOWN, '--scopes', 'events:read'],
    ['operation', 'list'],
    ['encryption', 'status'],
  ]) {
    await t.rejects(answer(args, none), {
      message: `DATA_DIR: there is no database in ${folder} yet: npm start makes one`,
    });
  }
  t.notOk(existsSync(folder));
  const file = { DATABASE_URL: '', DATA_DIR: import.meta.filename };
  await t.rejects(answer(['workspace', 'list'], file), { message: /^DATA_DIR: .*is not a folder/ });

  for (const schema of ['pgboss', 'public', 'audit']) await db.query(schema, `drop schema ${schema} cascade`);
  await db.query('testEmpty', 'create schema public');
  await t.rejects(answer(['workspace', 'list']), { message: /^the database has no tables yet/ });
  const made = await answer(['workspace', 'create', '--name', 'Acme']);
  t.same(await answer(['workspace', 'list']), { workspaces: [made] });
});

t.test('the version is that of the package', async (t) => {
  const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../../../../../package.json'), 'utf8'));
  t.equal(VERSION, version);
  await t.rejects(adminProgram({}, ['--version']), { exitCode: 0, message: version });
});

t.test('time spans are written as a person reads them', async (t) => {
  const spans: [ms: number, words: string][] = [
    [0, '0 s'],
    [999, '1 s'],
    [61_000, '1 min 1 s'],
    [7_500_000, '2 h 5 min'],
    [7_200_000, '2 h'],
    [90_061_000, '1 d 1 h'],
    [-5, '0 s'],
  ];
  for (const [ms, words] of spans) t.equal(durationInWords(ms), words);
});
