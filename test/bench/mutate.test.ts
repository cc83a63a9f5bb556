import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { codeEdits } from '../../bench/scenarios/mutate/code-edits.js';
import { ExecutedLines } from '../../bench/scenarios/mutate/executed.js';
import type { Rule } from '../../bench/scenarios/mutate/fault.js';
import { drawFaults } from '../../bench/scenarios/mutate/faults.js';
import { importersOf, withPrograms } from '../../bench/scenarios/mutate/imports.js';
import { runTest } from '../../bench/scenarios/mutate/run-test.js';
import { Tree } from '../../bench/scenarios/mutate/tree.js';

/** What each rule makes of a text. */
const made = (text: string) =>
  codeEdits(text).map(({ rule, from, to, by }): [Rule, string] => [rule, text.slice(0, from) + by + text.slice(to)]);

t.test('each rule changes one place', async (t) => {
  const cases: [text: string, rule: Rule, after: string][] = [
    ['if (a) b();', 'condition negated', 'if (!(a)) b();'],
    ['const c = a === b;', 'condition negated', 'const c = a !== b;'],
    ['const c = a <= b;', 'bound off by one', 'const c = a < b;'],
    ['const c = a + 1;', 'bound off by one', 'const c = a;'],
    ['const c = a && b;', 'and for or', 'const c = a || b;'],
    ['await save();', 'await dropped', 'save();'],
    ['close();', 'call dropped', ';'],
    ['await recordEvents();', 'event not recorded', ';'],
    ['this.#at = 1;', 'assignment dropped', ';'],
    ['throw new Error();', 'refusal dropped', ';'],
    ['function f() { if (a) return; b(); }', 'early return dropped', 'function f() { if (a) ; b(); }'],
    ['const c = { a: true };', 'flag flipped', 'const c = { a: false };'],
    [
      'q(`update a set b = 1 where id = $1 and epoch = c.epoch`)',
      'write without its fence',
      'q(`update a set b = 1 where id = $1 `)',
    ],
    [
      'q(`select a from b where (c and (d or e)) limit 1`)',
      'SQL condition dropped',
      'q(`select a from b where (c ) limit 1`)',
    ],
    ['q(`select a from b where c is null`)', 'SQL condition negated', 'q(`select a from b where c is not null`)'],
    ['q(`select a from b where c < d`)', 'bound off by one', 'q(`select a from b where c <= d`)'],
    ['q(`select a from b for update skip locked`)', 'lock dropped', 'q(`select a from b `)'],
    ['q(`select a from b order by c desc`)', 'order reversed', 'q(`select a from b order by c `)'],
  ];
  for (const [text, rule, after] of cases) {
    t.ok(
      made(text).some(([by, changed]) => by === rule && changed === after),
      `${text}: ${JSON.stringify(made(text))}`,
    );
  }
});

t.test('what no test could judge gets no fault', async (t) => {
  for (const text of [
    "import a from 'b';",
    "this.#log.warn('a');",
    'while (a < b) {}',
    'const q = `select a from b where c between 1 and 2`',
    'const q = `select a from b where c -- and d`',
    'const q = `select a from b where c and d = $2`',
    "const words = 'one and two';",
    "const words = 'Holds what comes with its deliveries, and none of them is sent as long as it stands';",
  ]) {
    t.strictSame(made(text), [], text);
  }
});

t.test('the same seed draws the same faults, one a line, and each names the line of its source', async (t) => {
  const text = 'if (a)\n    b();\nconst c = d < e;\n';
  // As the compiler writes it for a source whose first line is a comment.
  const map = { version: 3, file: 'x.js', sources: ['x.ts'], names: [], sourceRoot: '', sourcesContent: [] };
  const mappings = 'AACA,IAAI,CAAC;IACD,CAAC,EAAE,CAAC;AACR,MAAM,CAAC,GAAG,CAAC,GAAG,CAAC,CAAC';
  const compiled = { file: 'storage/x.ts', source: `// first\n${text}`, text, map: { ...map, mappings } };
  const drawn = drawFaults([compiled], 1, 10);
  t.strictSame(drawn.map(({ line, before, after }) => [line, before, after]).sort(), [
    [2, 'a', '!(a)'],
    [3, 'b();', ';'],
    [4, 'd < e', 'd <= e'],
  ]);
  t.strictSame(drawFaults([compiled], 1, 10), drawn);
  t.equal(drawFaults([compiled], 1, 2).length, 2);
  const validator = { ...compiled, source: '// first\nvalidator()\n    ;\n' };
  t.strictSame(drawFaults([validator], 1, 10), [], 'what the compiler made of something else');
});

t.test('tests are found by imports, the closest first', async (t) => {
  const imports = new Map(Object.entries({ 'a.js': [], 'b.js': ['a.js'], 'c.js': ['b.js', 'a.js'], 'd.js': ['c.js'] }));
  t.strictSame(
    [...importersOf(imports, 'a.js')],
    [
      ['b.js', 1],
      ['c.js', 1],
      ['d.js', 2],
    ],
  );
});

t.test('who starts a program leads to what it is made of', async (t) => {
  const root = t.testdir({
    browsers: { 'host.js': '', 'pool.js': "const file = programFile('browsers/host'); other('browsers/host');" },
    'none.js': "programFile('is/gone')",
  });
  const imports = new Map(Object.entries({ 'browsers/host.js': [], 'browsers/pool.js': [], 'none.js': [] }));
  t.strictSame(
    [...withPrograms(root, imports)],
    [
      ['browsers/host.js', []],
      ['browsers/pool.js', ['browsers/host.js']],
      ['none.js', []],
    ],
  );
});

t.test('a copy has a fault while it is judged, and the project never', async (t) => {
  const a = 'export const a = 1 < 2;';
  const dir = t.testdir({
    copy: {},
    project: {
      'package.json': '{}',
      storage: { 'a.ts': '', 'b.ts': '' },
      dist: {
        storage: { 'a.js': a, 'a.js.map': '{}', 'b.js': "import './a.js';", 'b.js.map': '{}', 'bundle.js': '' },
        ...{ 'browser-pool': {}, actors: {}, server: {}, bench: {} },
        test: {
          'far.test.js': "import '../storage/b.js';",
          storage: { 'near.test.js': "import '../../storage/a.js';" },
          'near.test.js': "import '../storage/a.js';",
        },
      },
    },
  });
  const [project, copy] = [join(dir, 'project'), join(dir, 'copy')];
  const read = (root: string) => readFileSync(join(root, 'dist/storage/a.js'), 'utf8');
  const tree = await Tree.copy(project, copy);
  t.equal(readFileSync(join(copy, 'package.json'), 'utf8'), '{}');
  t.strictSame(
    (await tree.compiled('storage')).map(({ file }) => file),
    ['storage/a.ts', 'storage/b.ts'],
  );
  t.strictSame(tree.tests(), ['dist/test/far.test.js', 'dist/test/near.test.js', 'dist/test/storage/near.test.js']);
  t.strictSame(
    [...tree.importersOf('storage/a.ts')].filter(([file]) => file.startsWith('test/')),
    [
      ['test/near.test.js', 1],
      ['test/storage/near.test.js', 1],
      ['test/far.test.js', 2],
    ],
  );
  await tree.with('storage/a.ts', 'changed', async () => t.strictSame([read(copy), read(project)], ['changed', a]));
  t.strictSame([read(copy), read(project)], [a, a]);
});

t.test('a test leads to the lines that it executed, in its own process and in those that it started', async (t) => {
  const dir = t.testdir({
    dist: {
      storage: {
        'a.js': 'export function a(b) {\n  if (b)\n    return 1;\n  return 2;\n}\n',
        'a.js.map': JSON.stringify({
          ...{ version: 3, file: 'a.js', sources: ['../../storage/a.ts'], names: [] },
          mappings: 'AAEA;EACE;IACE;EACF;AACF',
        }),
      },
      test: { 'a.test.js': "import { a } from '../storage/a.js';\nprocess.exitCode = a(false) - 2;\n" },
    },
    'package.json': '{ "type": "module" }',
  });
  const folder = join(dir, 'executed');
  const { end } = await runTest(dir, 'dist/test/a.test.js', 60_000, folder);
  t.equal(end, 'passed');
  const lines = new ExecutedLines(dir);
  t.strictSame([...(await lines.take(folder))], [['storage/a.ts', new Set([3, 4, 6])]]);
  t.strictSame(await lines.linesWithCode('storage/a.ts'), new Set([3, 4, 5, 6]));
  t.notOk(existsSync(folder));
});
