import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import typia from 'typia';
import type { Cost } from '../../kit/cost/cost.js';
import { LIMITS } from '../../kit/limits.js';

const costsIn = typia.createIs<{ costs: Record<string, Cost> }>();

type Program = ChildProcessByStdio<null, Readable, Readable>;

/**
 * Runs a scenario of each tree, as their command lines would, at the same time, and gives what an operation of each kind took in either. The programs,
 * which make the load, get on in turns of a tenth of a second: while one stands still its service has nothing to do. So what else the machine does, and
 * how fast it is just then, weighs on both alike. A scenario that found faults has costs all the same. Throws when one measured nothing.
 */
export async function sideBySide(
  trees: readonly string[],
  scenario: string,
  flags: string[],
): Promise<Record<string, Cost>[]> {
  const programs = trees.map((tree) => programOf(tree, scenario, flags));
  const written = Promise.all(programs.map(writtenBy));
  await inTurns(programs);
  return (await written).map(({ out, errors }) => {
    const report = jsonOf(out);
    if (costsIn(report)) return report.costs;
    const lines = errors.trim().split('\n');
    throw new Error(`${scenario} measured nothing: ${lines.find((line) => line.includes('Error')) ?? lines.at(-1)}`);
  });
}

function programOf(tree: string, scenario: string, flags: string[]): Program {
  return spawn(process.execPath, [join(tree, 'dist/bench/main.js'), scenario, ...flags, '--json'], {
    cwd: tree,
    env: process.env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** All of it, once the program has ended. */
async function writtenBy(program: Program): Promise<{ out: string; errors: string }> {
  const [out, errors] = await Promise.all([text(program.stdout), text(program.stderr), once(program, 'close')]);
  return { out, errors };
}

/** Until one has ended; the others then go on by themselves. A program that stands still takes no signal, so none is left so. */
async function inTurns(programs: readonly Program[]): Promise<void> {
  const goOn = () => {
    for (const program of programs) program.kill('SIGCONT');
  };
  process.once('exit', goOn);
  try {
    for (let turn = 0; programs.every(isRunning); turn++) {
      const next = turn % programs.length;
      for (const [i, program] of programs.entries()) if (i !== next) program.kill('SIGSTOP');
      programs[next]?.kill('SIGCONT');
      await delay(LIMITS.compared_turn_ms);
    }
  } finally {
    process.off('exit', goOn);
    goOn();
  }
}

const isRunning = ({ exitCode, signalCode }: Program): boolean => exitCode === null && signalCode === null;

function jsonOf(written: string): unknown {
  try {
    return JSON.parse(written);
  } catch {
    return undefined;
  }
}
