import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import t from 'tap';
import { descendantsOf, processorOf } from '../../bench/kit/cost/cpu.js';
import { eventually } from '../fixture/eventually.js';
import { sized } from '../fixture/size.js';

const BENCH = join(import.meta.dirname, '../../bench/main.js');

/** The bench in a folder of its own, once it has printed such a line, and what it says from then on. */
async function benchAt(
  cwd: string,
  line: RegExp,
  args: string[],
  database: string,
): Promise<{ bench: ChildProcess; said: string[] }> {
  // With none of the hooks that tap loads into its children.
  const env = {
    PATH: process.env.PATH,
    HOME: cwd,
    TMPDIR: temporaryIn(cwd),
    DATABASE: database,
    BENCH_CHILDREN_END_MS: '300000',
  };
  const bench = spawn(process.execPath, [BENCH, ...args], { cwd, env, stdio: ['ignore', 'ignore', 'pipe'] });
  const said: string[] = [];
  const reader = createInterface({ input: bench.stderr }).on('line', (text) => said.push(text));
  while (!said.some((text) => line.test(text))) await once(reader, 'line');
  return { bench, said };
}

/** As the system's is: PostgreSQL writes there as another user. */
function temporaryIn(cwd: string): string {
  const folder = join(cwd, 'tmp');
  mkdirSync(folder);
  chmodSync(folder, 0o1777);
  return folder;
}

const isRunning = (pid: number): boolean => processorOf(pid)?.isZombie === false;

/** What the bench has left in its folder: of its own database, and of the receivers. */
const foldersIn = (cwd: string): string[] =>
  [join(cwd, 'tmp'), join(cwd, '.data')].flatMap((folder) =>
    existsSync(folder) ? readdirSync(folder).filter((name) => name.startsWith('bench-')) : [],
  );

const SUBMIT = ['submit', '--seconds', '30', '--rounds', '1', '--warmup', '1', '--simulated-connections', '4'];

/** With a server of the machine, and with the service stopped, at length. */
const ENDS = [
  ['a client and a service', /round 1/, SUBMIT, 'embedded'],
  ['the database of a service that was stopped', /baseline, round 1/, SUBMIT.with(2, '1'), 'embedded'],
  ['a client, a service and a PostgreSQL of the run', /round 1/, SUBMIT, '15'],
  ['a PostgreSQL of the run whose service was stopped', /baseline, round 1/, SUBMIT.with(2, '1'), '15'],
] as const;

for (const [name, line, args, database] of ENDS.slice(0, sized(1, ENDS.length))) {
  t.test(`SIGTERM ends ${name}, and deletes their folders`, async (t) => {
    const cwd = t.testdir();
    const { bench, said } = await benchAt(cwd, line, [...args], database);
    const below = descendantsOf(bench.pid ?? 0);
    t.ok(below.length > 1, 'it has started some');
    t.ok(foldersIn(cwd).length > 0);
    const closed = once(bench, 'close');
    bench.kill('SIGTERM');
    t.same(await closed, [143, null]);
    t.notMatch(said.join('\n'), /had to be killed/);
    await eventually(
      'all below it have ended',
      () => below.filter(isRunning),
      (running) => running.length === 0,
    );
    t.same(foldersIn(cwd), []);
  });
}
