import { fork } from 'node:child_process';
import { once } from 'node:events';
import { onCores } from '../kit/cores.js';
import { withProgress } from '../kit/progress.js';
import { number } from '../kit/report.js';
import type { FromLoad, LoadOrder, LoadResult } from './messages.js';

type Say = (line: string) => void;

/** Runs the load program as a process of its own and says how far it is. `cores` are the only ones it runs on. */
export async function drive(what: string, order: LoadOrder, say: Say, cores?: string): Promise<LoadResult> {
  const [execPath, execArgv] = onCores(cores, process.execPath, []);
  const program = fork(new URL('./program.js', import.meta.url), { execPath, execArgv });
  const done = Promise.withResolvers<LoadResult>();
  let answered = 0;
  program.on('message', (message: FromLoad) => {
    if (message.type === 'done') done.resolve(message.result);
    else answered = message.answered;
  });
  void once(program, 'exit').then(([code]) => done.reject(new Error(`the load program ended with status ${code}`)));
  program.send(order);
  const startedAt = performance.now();
  const line = () => `${what}: ${number(answered)} answers, ${number((performance.now() - startedAt) / 1_000)} s`;
  return withProgress(say, line, done.promise);
}
