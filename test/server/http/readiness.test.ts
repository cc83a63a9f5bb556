import t from 'tap';
import { databaseAnswers } from '../../../server/http/readiness.js';
import type { Database } from '../../../storage/postgres/database.js';
import { freshDatabase } from '../../fixture/database.js';

t.test('probes at once share one question to the database, and a later one asks anew', async (t) => {
  const { db } = await freshDatabase(t);
  let asked = 0;
  let away = false;
  const control: Database = {
    ...db,
    query: async (name, text, values) => {
      asked++;
      if (away) throw new Error('the database is away');
      return db.query(name, text, values);
    },
  };
  t.strictSame(
    new Set(await Promise.all(Array.from({ length: 1_000 }, () => databaseAnswers(control)))),
    new Set([true]),
  );
  t.equal(asked, 1);
  away = true;
  t.equal(await databaseAnswers(control), false);
  t.equal(asked, 2);
  away = false;
  t.equal(await databaseAnswers(control), true, 'no answer is kept');
});
