import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { migrate } from '../../../storage/postgres/migrate.js';
import { freshDatabase } from '../../fixture/database.js';
import { eventually } from '../../fixture/eventually.js';

const FOLDER = join(import.meta.dirname, '../../../../storage/migrations');

t.test('a node starts on a database that a newer version has migrated compatibly, and on no other', async (t) => {
  const { url, db } = await freshDatabase(t);
  const newer = (name: string, compatible: boolean) =>
    db.query('testNewer', `insert into schema_migration (name, sha256, compatible) values ($1, 'x', $2)`, [
      name,
      compatible,
    ]);
  const seen: string[][] = [];
  const start = () => migrate(url, { onNewer: (names) => seen.push(names) });
  await start();
  t.strictSame(seen, []);
  await newer('9001_adds.sql', true);
  await newer('9002_adds_more.sql', true);
  await start();
  t.strictSame(seen, [['9001_adds.sql', '9002_adds_more.sql']]);
  await newer('9003_changes.sql', false);
  await t.rejects(start(), /9003_changes\.sql, which this version does not know/);
});

t.test('what former versions wrote of a migration counts as not compatible', async (t) => {
  const { url, db } = await freshDatabase(t);
  await db.query('testFormer', `insert into schema_migration (name, sha256) values ('9001_changes.sql', 'x')`);
  await t.rejects(migrate(url), /9001_changes\.sql/);
});

t.test('migrations say in their first line that they are compatible, and the table repeats it', async (t) => {
  const { db } = await freshDatabase(t);
  const rows = await db.query<{ name: string; compatible: boolean }>(
    'testMigrations',
    'select name, compatible from schema_migration order by name',
  );
  const files = (await readdir(FOLDER)).sort();
  t.strictSame(
    rows.map(({ name }) => name),
    files,
  );
  for (const { name, compatible } of rows) {
    const [first] = (await readFile(join(FOLDER, name), 'utf8')).split('\n');
    t.equal(compatible, first === '-- compatible', name);
  }
});

t.test('a migration does not stand in the way while a table is locked; it waits its turn', async (t) => {
  const { url, db } = await freshDatabase(t);
  // As before the migration, with a long transaction on its table.
  await db.query(
    'testUndo',
    'alter table connection drop column deleted_at cascade, drop column cancel_through cascade',
  );
  await db.query('testForget', `delete from schema_migration where name like '0008%'`);
  let migrated: Promise<void> | undefined;
  await db.transaction(async (tx) => {
    await tx.query('testHold', 'select from connection limit 1');
    migrated = migrate(url);
    const waiting = () =>
      db.query(
        'testWaits',
        `select from pg_stat_activity where datname = current_database() and application_name = 'migrate'
           and wait_event_type = 'Lock'`,
      );
    await eventually('the migration waits for the table', waiting, (waits) => waits.length > 0);
    await eventually('it stands back', waiting, (waits) => waits.length === 0);
  });
  await migrated;
  const columns = await db.query(
    'testColumns',
    `select from information_schema.columns where table_name = 'connection' and column_name = 'deleted_at'`,
  );
  t.equal(columns.length, 1);
});
