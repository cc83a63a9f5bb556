import t from 'tap';
import { freshDatabase } from '../../fixture/database.js';

t.test('no index of operation names what changes with its status, so that a change touches none of them', async (t) => {
  const { db } = await freshDatabase(t);
  const indexes = await db.query<{ name: string; definition: string }>(
    'testIndexes',
    `select indexname as name, indexdef as definition from pg_indexes where tablename = 'operation'`,
  );
  t.ok(indexes.length >= 4);
  const changing =
    /\b(?:status|result|error_code|error_details|challenge|cancel_requested|epoch|attempts|timeline|updated_at)\b/;
  for (const { name, definition } of indexes) t.notMatch(definition, changing, name);
});
