import { execFile } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import t, { type Test } from 'tap';

const ROOT = join(import.meta.dirname, '../../../..');
const PROGRAM = 'server/start/compile.mjs';
const SETTINGS = [
  'server/start/bundle.mjs',
  'server/start/console-pages.mjs',
  'server/console/page/tsconfig.json',
  'package.json',
  'tsconfig.json',
];

/** A small project with the real program, settings and compiler; without the compiler where that is taken away. */
function project(t: Test, sources: Record<string, string>) {
  const folder = mkdtempSync(join(tmpdir(), 'compile-')); // nowhere below this project's packages
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const at = (file: string) => join(folder, file);
  const write = (file: string, text: string) => {
    mkdirSync(dirname(at(file)), { recursive: true });
    writeFileSync(at(file), text);
  };
  for (const file of [PROGRAM, ...SETTINGS]) {
    mkdirSync(dirname(at(file)), { recursive: true });
    copyFileSync(join(ROOT, file), at(file));
  }
  for (const [file, text] of Object.entries(sources)) write(file, text);
  const run = (...args: string[]) =>
    new Promise<{ status: number; said: string }>((resolve) => {
      execFile(process.execPath, args, { cwd: folder }, (error, stdout, stderr) =>
        resolve({ status: Number(error?.code ?? 0), said: (stdout + stderr).trim() }),
      );
    });
  return {
    at,
    write,
    compile: () => run(PROGRAM),
    run: (file: string) => run(at(file)),
    install: () => symlinkSync(join(ROOT, 'node_modules'), at('node_modules')),
    prune: () => unlinkSync(at('node_modules')),
  };
}

const SOURCES = {
  'storage/leaf.ts': 'export interface Leaf {\n  size: number;\n}\n',
  'storage/tree.ts': "import type { Leaf } from './leaf.js';\nexport interface Tree {\n  leaf: Leaf;\n}\n",
  'server/check.ts': `import typia from 'typia';
import type { Tree } from '../storage/tree.js';
process.stdout.write(String(typia.is<Tree>(JSON.parse('{"leaf":{"size":1}}'))));
`,
  'server/console/page/console/main.tsx': 'export {};\n',
  'server/console/page/reconnect/main.tsx': "document.title = 'first';\n",
  'test/one.test.ts': 'export {};\n',
};
const QUIET = { status: 0, said: '' };
const COMPILED = { status: 0, said: 'Compiling' };

t.test('of several that find something to compile one does, and the others go on when it is done', async (t) => {
  const { compile, run, install } = project(t, SOURCES);
  install();
  const all = await Promise.all(
    Array.from({ length: 3 }, async () => {
      const { status, said } = await compile();
      return { status, said, ran: await run('dist/server/check.js') };
    }),
  );
  for (const { status, ran } of all) t.same({ status, ran }, { status: 0, ran: { status: 0, said: 'true' } });
  t.equal(all.filter(({ said }) => /^Compiling$/m.test(said)).length, 1);
});

t.test('what changed is compiled as if everything had been, and nothing where nothing has to be', async (t) => {
  const { at, write, compile, run, install, prune } = project(t, SOURCES);
  const bundles = () => readdirSync(at('dist/server/console/files')).filter((name) => name.startsWith('reconnect-'));
  t.match(await compile(), {
    status: 1,
    said: /^dist is missing or not whole, [^\n]*npm install[^\n]*npm run build$/,
  });
  install();
  t.same(await compile(), COMPILED);
  t.same(await run('dist/server/check.js'), { status: 0, said: 'true' });
  t.same(await compile(), QUIET);
  const [first] = bundles();
  t.match(readFileSync(at(`dist/server/console/files/${first}`), 'utf8'), /"first"/);
  t.notOk(existsSync(at('dist/server/console/page')), 'a page is no module of the service');

  const changed = 'export interface Leaf {\n  size: string;\n}\n';
  write('storage/leaf.ts', changed);
  write('server/console/page/reconnect/main.tsx', "document.title = 'second';\n");
  rmSync(at('test/one.test.ts'));
  t.same(await compile(), COMPILED);
  t.same(await run('dist/server/check.js'), { status: 0, said: 'false' }, 'a type two files away was changed');
  t.notOk(existsSync(at('dist/test/one.test.js')), 'a test whose source is gone does not run');
  t.equal(bundles().length, 1);
  t.notSame(bundles(), [first], 'a page is bundled under a name of its content');

  const before = readFileSync(at('dist/.built'), 'utf8');
  write('storage/leaf.ts', 'export interface Leaf {\n  size: Absent;\n}\n');
  t.match(await compile(), { status: 1, said: /storage\/leaf\.ts\(2,9\): error TS2304/ });
  t.equal(readFileSync(at('dist/.built'), 'utf8'), before, 'and dist is what it was');
  write('storage/leaf.ts', changed);
  write('server/console/page/reconnect/main.tsx', 'process.exit();\n');
  t.match(await compile(), { status: 1, said: /main\.tsx\(1,1\): error TS2\d+: Cannot find name 'process'/ });

  prune();
  t.match(await compile(), {
    status: 1,
    said: /^dist was made of other sources than are here, [^\n]*npm run build$/,
  });
  write('server/console/page/reconnect/main.tsx', "document.title = 'second';\n");
  t.same(await compile(), QUIET, 'without the compiler one that is whole is used');
  rmSync(at('storage/tree.ts'));
  t.same(await compile(), QUIET, 'an image may leave sources away');
});
