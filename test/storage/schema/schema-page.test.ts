import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { dumpSchema } from '../../../storage/schema/schema-page.js';
import { freshDatabase } from '../../fixture/database.js';

t.test('the committed page is what the migrations make', async (t) => {
  const { db } = await freshDatabase(t);
  const page = readFileSync(join(import.meta.dirname, '../../../../storage/schema.sql'), 'utf8');
  t.equal(await dumpSchema(db), page);
});

t.test('a column, a constraint or an index more changes the dump', async (t) => {
  const { db } = await freshDatabase(t);
  const before = await dumpSchema(db);
  for (const change of [
    'alter table workspace add column plan text',
    'alter table workspace add check (plan is not null)',
    'create index workspace_by_name on workspace (name)',
    'create view named as select name from workspace',
    'create table parted (at date) partition by range (at)',
  ]) {
    await db.query(change, change);
    t.not(await dumpSchema(db), before, change);
  }
  const shown = await dumpSchema(db);
  await db.query('part', `create table parted_1 partition of parted for values from ('2026-01-01') to ('2026-02-01')`);
  t.equal(await dumpSchema(db), shown, 'partitions are left out: months bring them');
});

t.test('what the dump cannot show is an error, not an omission', async (t) => {
  const { db } = await freshDatabase(t);
  await db.query('view', 'create materialized view workspaces as select * from workspace');
  await t.rejects(dumpSchema(db), { message: 'the dump does not show relation workspaces' });
});
