import { cp, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { migrate } from '../../../storage/schema/migrate.js';
import { dataFolder } from '../../fixture/data-folder.js';
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

t.test('a database of a development version before 0.1.0 is refused in one line, and left as it is', async (t) => {
  const { url, db } = await freshDatabase(t);
  await db.query(
    'testBefore',
    `update schema_migration set name = '0001_foundation.sql' where name = '0001_schema.sql'`,
  );
  await t.rejects(migrate(url), { message: /^the database was made by a development version before 0\.1\.0[^\n]*$/ });
  const [first] = await db.query('testNames', 'select name from schema_migration order by name');
  t.match(first, { name: '0001_foundation.sql' });
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
  const folder = await dataFolder(t);
  await cp(FOLDER, folder, { recursive: true });
  await writeFile(join(folder, '9001_adds.sql'), '-- compatible\nalter table connection add column more text;\n');
  let migrated: Promise<void> | undefined;
  await db.transaction(async (tx) => {
    await tx.query('testHold', 'select from connection limit 1');
    migrated = migrate(url, { folder });
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
    `select from information_schema.columns where table_name = 'connection' and column_name = 'more'`,
  );
  t.equal(columns.length, 1);
});
