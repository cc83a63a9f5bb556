import { join } from 'node:path';
import t from 'tap';
import { readSources } from '../remarks.js';
import { type NamedStatement, namedStatements } from '../statements.js';

/**
 * Every statement that writes or locks is in the table of STO-10 with its kind. READ COMMITTED gives a statement one view of all rows, and
 * of the row that it locks the newest version: what it decides by other rows may be older than what it changes.
 */
const ROOT = join(import.meta.dirname, '../../..');
const KINDS = ['one row', 'lock, then look', 'compare'];

const WRITES =
  /\b(?:insert\s+into|update\s+[\w.]+\s+(?:as\s+)?(?:\w+\s+)?set|update\s+set|delete\s+from|for\s+(?:no\s+key\s+)?update|for\s+(?:key\s+)?share|pg_(?:try_)?advisory_xact_lock)\b/i;

interface Entry {
  names: string[];
  file: string;
  kind: string;
}

/** The rows of the table: statements, file, what they decide by, kind. */
function entriesOf(page: string): Entry[] {
  const section = page.split(/^## /m).find((part) => part.startsWith('STO-10.')) ?? '';
  return section.split('\n').flatMap((line) => {
    const [, names, file, , kind] = line.split('|').map((cell) => cell.trim());
    if (!names?.startsWith('`') || !file || !kind) return [];
    return [{ names: backticked(names), file: `storage/${backticked(file)[0]}`, kind }];
  });
}

const backticked = (text: string): string[] => [...text.matchAll(/`([^`]+)`/g)].map(([, inner]) => inner ?? '');

const keyOf = ({ name, file }: { name: string; file: string }) => `${file} ${name}`;

/** Asks for rows of a table, not of a common table of its own: as they were when the statement began. */
function looks(part: string, statement: string): boolean {
  const asked = [...part.matchAll(/\bexists\s*\(\s*select\s+(?:1\s+|true\s+)?from\s+(\w+)/gi)];
  return asked.some(([, table = '']) => table !== 'unnest' && !new RegExp(`\\b${table}\\s+as\\s`, 'i').test(statement));
}

/**
 * Looks in the list of a select that locks: the columns beside it are of the row's newest version, and what it finds is not, because
 * PostgreSQL asks again only for the row's own conditions.
 */
function looksBesideLock(text: string): boolean {
  return [...text.matchAll(/\bselect\b/gi)].some(({ index }) => {
    const { list, rest } = selectAt(text, index + 'select'.length);
    return looks(list, text) && /\bfor\s+(?:no\s+key\s+)?update\b/i.test(rest);
  });
}

/** The list of a select, and what stands behind it up to the end of its brackets, both without what inner brackets of the rest hold. */
function selectAt(text: string, from: number): { list: string; rest: string } {
  let depth = 0;
  let list: string | undefined;
  let rest = '';
  for (let i = from; i < text.length && depth >= 0; i++) {
    if (text[i] === '(') depth++;
    if (text[i] === ')') depth--;
    if (depth === 0 && list === undefined && /^\sfrom\s/i.test(text.slice(i, i + 6))) list = text.slice(from, i);
    if (depth === 0 && list !== undefined) rest += text[i];
  }
  return { list: list ?? '', rest };
}

const sources = readSources(ROOT, ['storage', 'actors', 'server']);
const page = sources.find(({ file }) => file === 'storage/DECISIONS.md')?.text ?? '';
const statements = namedStatements(sources.filter(({ file }) => file.endsWith('.ts')));
const writing = new Map(statements.filter(({ text }) => WRITES.test(text)).map((one) => [keyOf(one), one]));
const entries = entriesOf(page);
const kinds = new Map(entries.flatMap(({ names, file, kind }) => names.map((name) => [keyOf({ name, file }), kind])));

t.test('every statement that writes or locks is in the table, once, and the table has no other', async (t) => {
  t.ok(writing.size > 150, 'statements are read');
  t.same([...writing.keys()].filter((key) => !kinds.has(key)).sort(), [], 'none is missing');
  t.same([...kinds.keys()].filter((key) => !writing.has(key)).sort(), [], 'none is gone');
  const listed = entries.flatMap(({ names, file }) => names.map((name) => keyOf({ name, file })));
  t.same(
    listed.filter((key, i) => listed.indexOf(key) !== i),
    [],
    'none stands twice',
  );
  t.same(
    entries.filter(({ kind }) => !KINDS.includes(kind)),
    [],
    'and each is of a known kind',
  );
});

t.test('a statement of one row looks at no other, and one that looks beside its lock compares', async (t) => {
  const of = (kind: string): NamedStatement[] =>
    [...writing].flatMap(([key, one]) => (kinds.get(key) === kind ? [one] : []));
  t.same(
    of('one row')
      .filter(({ text }) => looks(text, text))
      .map(keyOf),
    [],
  );
  t.same(
    of('lock, then look')
      .filter(({ text }) => looksBesideLock(text))
      .map(keyOf),
    [],
  );
});

t.test('names and texts are read through constants, fragments and functions', async (t) => {
  const one = `import { LOCK } from './two.js';
    const of = (key: string, { more = 'x' }: { more?: string }) => { const a = \`\${key} = \${more}\`; return a; };
    db.query('a', \`select 1 \${of('id', { more: '$1' })} \${LOCK}\`, []);
    for (const [name, b] of [['c', 1], ['d', 2]]) db.query(\`\${name}\`, 'delete from e');
    db.query(long ? 'f' : \`g.\${key}\`, long ? 'h' : 'i');
    client.query('select 2', []);`;
  const two = `export const LOCK = 'for update';`;
  t.strictSame(
    namedStatements([
      { file: 'x/one.ts', text: one },
      { file: 'x/two.ts', text: two },
    ]),
    [
      { name: 'a', file: 'x/one.ts', text: 'select 1 id = $1 for update' },
      { name: 'c', file: 'x/one.ts', text: 'delete from e' },
      { name: 'd', file: 'x/one.ts', text: 'delete from e' },
      { name: 'f', file: 'x/one.ts', text: 'h i' },
      { name: 'g.*', file: 'x/one.ts', text: 'h i' },
    ],
  );
});

t.test('a look beside a lock is found', async (t) => {
  const looking = (list: string) =>
    `with seen as materialized (select j.id, ${list} from job j where j.state = 'active' for update of j) delete from job`;
  t.ok(looksBesideLock(looking('exists (select from operation o where o.id = j.id) as missed')));
  t.notOk(looksBesideLock(looking('j.data')));
});
