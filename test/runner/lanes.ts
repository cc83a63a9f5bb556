import { type ChildProcess, type ForkOptions, fork } from 'node:child_process';
import { PassThrough, type Readable } from 'node:stream';
import type { FileToRun, LaneMessage } from './lane.js';

const LANE = new URL('./lane.js', import.meta.url);
/** With TEST_LOG_LEVEL what tests and their services say is shown as it comes, else that of a file when it has failed. */
const OUTPUT = process.env.TEST_LOG_LEVEL ? 'inherit' : 'pipe';
const HOOKS = new URL('./hooks.js', import.meta.url).href;
const OPTIONS: ForkOptions = {
  execArgv: ['--enable-source-maps', '--import', HOOKS],
  stdio: ['ignore', OUTPUT, OUTPUT, 'ipc'],
};
/** A file that says nothing so long after its time limit holds its process up. */
const BEYOND_LIMIT_ms = 30_000;

export interface FileEnd {
  /** What it left running; a process that came to an end is none of it. */
  left: string[];
  /** The process ended with the file, by itself or because the file held it up. */
  broken: boolean;
  /** What the file and what it started wrote. */
  said: string;
}

/** Runs test files, one after the other, in one process for as long as its files end as they should. */
export class Lane {
  #process: ChildProcess | undefined;

  /** Runs a file; in a process `alone` if what other files leave in it matters. Its TAP is an unfinished stream when the process breaks. */
  run(
    file: string,
    { timeout_ms, alone }: { timeout_ms: number; alone: boolean },
  ): { tap: Readable; end: Promise<FileEnd> } {
    const tap = new PassThrough({ encoding: 'utf8' });
    const child = (!alone && this.#running()) || fork(LANE, OPTIONS);
    const end = new Promise<FileEnd>((resolve) => {
      const limit = setTimeout(() => child.kill('SIGKILL'), timeout_ms + BEYOND_LIMIT_ms);
      let said = '';
      const onOutput = (text: Buffer) => {
        said += text;
      };
      const outputs = [child.stdout, child.stderr];
      const ended = (left: string[], next: 'used again' | 'let go' | 'gone') => {
        clearTimeout(limit);
        child.off('message', onMessage).off('exit', onExit);
        for (const output of outputs) output?.off('data', onOutput).resume();
        tap.end();
        if (next === 'used again') this.#process = child;
        else if (!alone) this.#process = undefined;
        if (next === 'let go') child.disconnect();
        resolve({ left, broken: next === 'gone', said });
      };
      const onExit = () => ended([], 'gone');
      const onMessage = (message: LaneMessage | object) => {
        if ('tap' in message) tap.write(message.tap);
        if ('left' in message)
          ended(message.left, alone || !message.passed || message.left.length > 0 ? 'let go' : 'used again');
      };
      child.on('message', onMessage).on('exit', onExit);
      for (const output of outputs) output?.on('data', onOutput);
      child.send({ file, timeout_ms } satisfies FileToRun);
    });
    return { tap, end };
  }

  /** Its process, unless that has come to an end since its last file. */
  #running(): ChildProcess | undefined {
    return this.#process?.connected ? this.#process : undefined;
  }

  /** Lets the process end. */
  close(): void {
    this.#running()?.disconnect();
  }
}
