import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { TABLES, withTables } from '../../../server/docs/page.js';
import { markdownTable } from '../../../server/docs/table.js';

const REFERENCE = 'server/REFERENCE.md';

t.test('the tables of the pages are those that the records give (npm run docs)', async (t) => {
  for (const name of Object.keys(TABLES)) {
    const page = readFileSync(join(import.meta.dirname, '../../../..', name), 'utf8');
    t.equal(withTables(name, page), page);
  }
});

t.test('a page without the markers of a table is refused', async (t) => {
  t.throws(() => withTables(REFERENCE, '# A page\n'), { message: /<!-- variables -->/ });
});

/** Places of the other tables. */
const EMPTY = ['metrics', 'http-errors', 'operation-errors'].map((name) => `<!-- ${name} --><!-- /${name} -->`);

t.test('a stale table is replaced, and what stands around it stays', async (t) => {
  const page = (variables: string) =>
    ['before', `<!-- variables -->${variables}<!-- /variables -->`, ...EMPTY, 'after', ''].join('\n');
  const fresh = withTables(REFERENCE, page(''));
  t.equal(withTables(REFERENCE, page('\n\n| old |\n\n')), fresh);
  t.match(fresh, /^before\n<!-- variables -->\n\n\| variable /);
  t.match(fresh, /\nafter\n$/);
});

t.test('the columns of a table stand under each other, and a bar in a cell does not end it', async (t) => {
  t.equal(markdownTable(['a', 'b'], [['x|y', 'z']]), '| a    | b |\n| ---- | - |\n| x\\|y | z |');
});
