import type { ChildProcess } from 'node:child_process';
import { Server } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import t, { Test, type TestOpts } from 'tap';
import { keepCompiledCode } from '../../storage/process/compiled-code.js';
import { begin } from './current.js';
import { forgetProcess } from './uncaught.js';
import './short-diffs.js';

/*
 * A process that runs test files one after the other (lanes.ts): what they import is loaded once. Each file is imported with a test of its own in
 * place of the `t` of its process, and its TAP goes to the runner.
 */

/** What the runner sends: run this file. A lane ends when the runner lets go of it. */
export interface FileToRun {
  file: string;
  timeout_ms: number;
}

/** What the runner gets: the TAP of the file, piece by piece, and in the end whether it passed and what it left running. */
export type LaneMessage = { tap: string } | { passed: boolean; left: string[] };

keepCompiledCode();
forgetProcess();

const send = (message: LaneMessage) =>
  new Promise<void>((resolve) => {
    process.send?.(message, () => resolve());
  });

async function run({ file, timeout_ms }: FileToRun): Promise<void> {
  // As `node <file>` would have it.
  process.argv[1] = file;
  const before = running();
  const test: Test = new Test({ name: file, timeout: timeout_ms } as TestOpts);
  begin(test);
  const ended = new Promise<void>((resolve) => test.once('end', resolve));
  test.on('data', (tap: string) => void send({ tap }));
  test.runMain(() => {});
  await test.hook.runInAsyncScope(async () => {
    try {
      await import(pathToFileURL(file).href);
    } catch (error) {
      test.threw(error);
    }
    test.end();
  });
  await ended;
  test.setTimeout(0);
  await send({ passed: test.passing(), left: await leftBeside(before) });
}

/** The processes that this one has started and the ports that it listens on. */
function running(): (ChildProcess | Server)[] {
  const handles: unknown[] = (process as unknown as { _getActiveHandles(): unknown[] })._getActiveHandles();
  return handles.filter((one): one is ChildProcess | Server => one instanceof Server || isProcess(one));
}

const isProcess = (one: unknown): one is ChildProcess => one instanceof Object && 'spawnargs' in one;

/** What a file has started and not ended, a little time after its end. Its processes are ended now. */
async function leftBeside(before: (ChildProcess | Server)[]): Promise<string[]> {
  const left = () => running().filter((one) => !before.includes(one));
  for (let looks = 0; looks < 200 && left().length > 0; looks++) await delay(10);
  return left().map((one) => {
    if (!isProcess(one)) return `a server at ${JSON.stringify(one.address())}`;
    one.kill('SIGKILL');
    return one.spawnargs.join(' ');
  });
}

// The test of the process itself has nothing to do, and no time limit.
t.setTimeout(0);
process.on('message', (message: FileToRun) => void run(message));
process.once('disconnect', () => process.exit());
