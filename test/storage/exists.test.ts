import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';

const ROOT = join(import.meta.dirname, '../../..');

/** Tables of some rows at any size of an installation, and common tables of a statement's own. */
const SMALL = new Set(['regional_proxy', 'partition', 'node', 'marker', 'renewed', 'requested', 'pin']);

/** An EXISTS among values or beside `or`: with the first table it reads, where that is said at once. */
const BESIDE = /(?:\bor|\bwhen|\bselect|,)\s+(?:not\s+)?exists\s*\(\s*select\s+(?:1\s+)?from\s+(\w+)/g;

t.test('no EXISTS stands where it may be planned as a hash of a large table: `findsRow` does', async (t) => {
  const files = ['storage', 'actors', 'server'].flatMap((folder) => globSync(`${folder}/**/*.ts`, { cwd: ROOT }));
  const found = files.flatMap((file) =>
    [...readFileSync(join(ROOT, file), 'utf8').matchAll(BESIDE)].map(([, table]) => ({ file, table: table ?? '' })),
  );
  t.ok(found.length > 3, 'those of small tables are seen');
  t.strictSame(
    found.filter(({ table }) => !SMALL.has(table)),
    [],
  );
});
