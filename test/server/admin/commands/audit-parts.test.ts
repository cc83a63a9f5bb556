import { createHash } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import pg from 'pg';
import t, { type Test } from 'tap';
import { v7 as uuidv7 } from 'uuid';
import { adminProgram } from '../../../../server/admin/program.js';
import { recordReveal } from '../../../../storage/audit/reveals.js';
import type { Database } from '../../../../storage/postgres/database.js';
import { freshDatabase } from '../../../fixture/database.js';
import { insertWorkspace } from '../../../fixture/rows.js';

interface Written {
  part: string;
  file: string;
  sha256: string;
  entries: number;
}

/** A log with a part of a month that is over, and its command line. */
async function logOf(t: Test) {
  const { url, db } = await freshDatabase(t);
  const admin = async (...args: string[]) =>
    JSON.parse((await adminProgram({ DATABASE_URL: url }, ['audit', ...args])).text);
  await db.query(
    'testPart',
    `create table audit.entry_2024_02 partition of audit.entry for values from ('2024-02-01Z') to ('2024-03-01Z')`,
  );
  const folder = t.testdir({});
  return { url, db, admin, to: (name: string) => join(folder, name) };
}

const add = (db: Database, count: number) =>
  db.query(
    'testEntries',
    `insert into audit.entry (id, at, actor_kind, action, target_kinds, target_ids)
     select gen_random_uuid(), timestamptz '2024-02-01Z' + n * interval '1 minute', 'key', 'key.create', '{key}', array[gen_random_uuid()]
     from generate_series(1, $1::int) n`,
    [count],
  );

const linesOf = async (file: string) =>
  gunzipSync(await readFile(file))
    .toString()
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));

t.test('a month that is over is written into a file and dropped, and both are told', async (t) => {
  const { db, admin, to } = await logOf(t);
  await add(db, 2_345);
  const file = to('log.jsonl.gz');
  const written: Written = await admin('archive', '2024-02', '--to', file);
  t.match(written, { part: '2024-02', file, entries: 2_345 });
  t.equal(
    written.sha256,
    createHash('sha256')
      .update(await readFile(file))
      .digest('hex'),
  );
  const lines = await linesOf(file);
  t.equal(new Set(lines.map(({ id }) => id)).size, 2_345);
  t.strictSame(
    lines.map(({ at }) => at),
    lines.map(({ at }) => at).toSorted(),
  );
  t.match(lines[0], { action: 'key.create', targets: [{ kind: 'key' }], at: '2024-02-01T00:01:00.000Z' });
  t.strictSame(await readdir(join(file, '..')), ['log.jsonl.gz']);

  const { parts } = await admin('parts');
  t.match(parts[0], { name: '2024-02', open: false, archives: [{ sha256: written.sha256, entries: 2_345 }] });
  t.strictSame(await admin('drop', '2024-02', '--archive', file), { part: '2024-02', dropped: 2_345 });
  t.notMatch((await admin('parts')).parts, [{ name: '2024-02' }]);
  const { entries } = await admin('list');
  const details = { part: '2024-02', sha256: written.sha256, entries: 2_345 };
  const told = entries.filter(({ action }: { action: string }) => action !== 'command.read');
  t.match(told, [
    { action: 'audit.drop', details },
    { action: 'audit.archive', details },
  ]);
  t.equal(told.length, 2);
});

t.test('how often something was shown is in its archive', async (t) => {
  const { db, admin, to } = await logOf(t);
  const workspaceId = await insertWorkspace(db);
  await db.transaction(async (tx) => {
    await recordReveal(tx, {
      ...{ actor: { kind: 'key', id: uuidv7(), name: 'k', address: '192.0.2.1' }, action: 'operation.reveal_input' },
      ...{ workspaceId, targets: [['operation', uuidv7()]], requestId: null },
    });
    await tx.query('testReads', 'update audit_reveal set reads = 7');
  });
  await db.query(
    'testCopy',
    `insert into audit.entry (id, at, workspace_id, actor_kind, action, target_kinds, target_ids)
     select id, '2024-02-02Z', workspace_id, actor_kind, action, target_kinds, target_ids from audit.entry where action like '%reveal%'`,
  );
  const file = to('log.gz');
  await admin('archive', '2024-02', '--to', file);
  t.match(await linesOf(file), [{ action: 'operation.reveal_input', details: { reads: 7 } }]);
});

t.test('what is not over, not archived, archived before more came, or not a file is refused, and stays', async (t) => {
  const { db, admin, to } = await logOf(t);
  await add(db, 2);
  const file = to('log.gz');
  const now = new Date().toISOString().slice(0, 7);
  await t.rejects(admin('archive', now, '--to', file), /may still get entries, until/);
  await t.rejects(admin('archive', '2024-01', '--to', file), /no part 2024-01/);
  await t.rejects(admin('archive', '2024-02', '--to', join(file, 'none')), /ENOENT/);
  await t.rejects(admin('archive', '2024-02'), /required option '--to/);
  t.strictSame(await readdir(join(file, '..')), []);
  await admin('archive', '2024-02', '--to', file);
  await t.rejects(admin('archive', '2024-02', '--to', file), /is there already/);
  t.equal((await linesOf(file)).length, 2, 'and is as it was');
  await t.rejects(admin('drop', '2024-02', '--archive', to('other.gz')), /ENOENT/);
  const forged = to('forged.gz');
  await writeFile(forged, 'nothing');
  await t.rejects(admin('drop', '2024-02', '--archive', forged), /is no archive of 2024-02/);
  await db.query(
    'testLate',
    `insert into audit.entry (id, at, actor_kind, action) values (gen_random_uuid(), '2024-02-03Z', 'key', 'key.create')`,
  );
  await t.rejects(admin('drop', '2024-02', '--archive', file), /has 3 entries, not 2: archive it again/);
  t.match((await admin('parts')).parts[0], { name: '2024-02', archives: [{ entries: 2 }] });
});

t.test('a log that is in use is not waited for', async (t) => {
  const { url, db, admin, to } = await logOf(t);
  await add(db, 1);
  const file = to('log.gz');
  await admin('archive', '2024-02', '--to', file);
  const reader = new pg.Client({ connectionString: url });
  await reader.connect();
  t.teardown(() => reader.end());
  await reader.query('begin; select count(*) from audit.entry');
  await t.rejects(admin('drop', '2024-02', '--archive', file), /in use just now/);
  await reader.query('commit');
  t.strictSame(await admin('drop', '2024-02', '--archive', file), { part: '2024-02', dropped: 1 });
});
