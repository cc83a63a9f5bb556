import { fork } from 'node:child_process';
import { once } from 'node:events';
import { onCores } from './cores.js';

/**
 * Runs a program of the bench as a process of its own, so that measuring shares no thread with what it measures: it takes one
 * message and answers one. `file` is its compiled file, relative to this folder; `cores` are the only ones it runs on. Throws when it
 * ends without an answer.
 */
export async function runProgram<Answer>(file: string, message: object, cores?: string): Promise<Answer> {
  const [execPath, execArgv] = onCores(cores, process.execPath, []);
  const program = fork(new URL(file, import.meta.url), { execPath, execArgv });
  program.send(message);
  const ended = once(program, 'exit').then(([code]) => Promise.reject(new Error(`${file} ended with status ${code}`)));
  const [answer] = (await Promise.race([once(program, 'message'), ended])) as [Answer];
  return answer;
}
