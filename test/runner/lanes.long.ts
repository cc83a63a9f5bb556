import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { Lane } from './lanes.js';

/** Below the project, whose packages the files import. */
const FOLDER = join(import.meta.dirname, '../../../.data/test');

/** Runs files with these texts, one after the other, in as few processes as their ends allow. */
async function runAll(t: Test, texts: string[]) {
  await mkdir(FOLDER, { recursive: true });
  const folder = await mkdtemp(join(FOLDER, 'lanes-'));
  t.teardown(() => rm(folder, { recursive: true }));
  const lane = new Lane();
  t.teardown(() => lane.close());
  const ends = [];
  for (const [n, body] of texts.entries()) {
    const file = join(folder, `${n}.mjs`);
    await writeFile(file, `import t from 'tap';\n${body}\n`);
    const { tap, end } = lane.run(file, { timeout_ms: 20_000, alone: false });
    ends.push({ tap: await text(tap), ...(await end) });
  }
  return ends;
}

const PROCESS = 'await t.test(String(process.pid), async (t) => t.pass());';
const processOf = ({ tap }: { tap: string }) => /Subtest: (\d+)/.exec(tap)?.[1];

t.test('files that end as they should share a process, each with its own test', async (t) => {
  const [one, other] = await runAll(t, [PROCESS, `t.equal(1, 2, 'not equal');\n${PROCESS}`]);
  t.equal(processOf(one!), processOf(other!));
  t.match(one!.tap, /^1\.\.1$/m);
  t.match(other!.tap, /^not ok 1 - not equal/m);
  t.match(other!.tap, /^1\.\.2$/m);
});

t.test('what a file leaves running is told, and its process is not used again', async (t) => {
  const server = `import { createServer } from 'node:net';\nconst server = createServer();\nawait new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));\n${PROCESS}`;
  const child = `import { spawn } from 'node:child_process';\nspawn('sleep', ['600']);\n${PROCESS}`;
  const [first, second, third] = await runAll(t, [server, child, PROCESS]);
  t.match(first!.left, [/^a server at .*127\.0\.0\.1/]);
  t.strictSame(second!.left, ['sleep 600']);
  t.strictSame(third!.left, []);
  t.equal(new Set([first, second, third].map((end) => processOf(end!))).size, 3);
});

t.test('an error that nobody catches fails the test that runs', async (t) => {
  const wait = 'await new Promise((resolve) => setTimeout(resolve, 100));';
  const inTest = (body: string) => `await t.test('runs', async (t) => { ${body} ${wait} });`;
  const [thrown, rejected] = await runAll(t, [
    inTest(`setTimeout(() => { throw new Error('uncaught'); });`),
    inTest(`void Promise.reject(new Error('uncaught'));`),
  ]);
  for (const end of [thrown, rejected]) t.match(end!.tap, /^ {4}not ok \d+ - uncaught/m);
});

t.test('a file that fails, throws, or ends its process is the last one of it', async (t) => {
  const throwing = `${PROCESS}\nthrow new Error('out of it');`;
  const [failed, thrown, ended, after] = await runAll(t, [
    `t.fail('it');\n${PROCESS}`,
    throwing,
    'process.exit(0);',
    PROCESS,
  ]);
  t.match(thrown!.tap, /^not ok \d+ - out of it/m);
  t.strictSame(
    [failed, thrown, ended, after].map((end) => end!.broken),
    [false, false, true, false],
  );
  t.equal(new Set([failed, thrown, after].map((end) => processOf(end!))).size, 3);
});
