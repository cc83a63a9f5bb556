import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { Deadline } from '../../storage/process/deadline.js';
import { onCores } from './cores.js';

/**
 * Runs a program of the bench as a process of its own, so that measuring shares no thread with what it measures: it takes one
 * message and answers one. `program` is its compiled file; `cores` are the only ones it runs on. Throws when it
 * ends without an answer.
 */
export async function runProgram<Answer>(program: URL, message: object, cores?: string): Promise<Answer> {
  const [execPath, execArgv] = onCores(cores, process.execPath, []);
  const child = fork(program, { execPath, execArgv });
  child.send(message);
  const ended = once(child, 'exit').then(([code]) =>
    Promise.reject(new Error(`${program.pathname} ended with status ${code}`)),
  );
  const [answer] = (await Promise.race([once(child, 'message'), ended])) as [Answer];
  return answer;
}

/** A program of the bench that runs for long, as a process of its own, with the messages that it takes and gives. */
export class Child<To extends { type: string }, From extends { type: string }> implements AsyncDisposable {
  readonly #program: URL;
  readonly #child: ChildProcess;

  /** `program` is its compiled file; `cores` are the only ones it runs on. */
  constructor(program: URL, cores: string | undefined, onMessage: (message: From) => void = () => {}) {
    this.#program = program;
    const [execPath, execArgv] = onCores(cores, process.execPath, []);
    this.#child = fork(program, { execPath, execArgv });
    this.#child.on('message', onMessage);
  }

  /** Sends a message and gives the next one of the type that answers it. Throws when the process ends, or after `within_ms`. */
  async ask<T extends From['type']>(message: To, answer: T, within_ms: number): Promise<Extract<From, { type: T }>> {
    const answered = Promise.withResolvers<Extract<From, { type: T }>>();
    const receive = (received: From) => {
      if (received.type === answer) answered.resolve(received as Extract<From, { type: T }>);
    };
    const end = () => answered.reject(new Error(`${this.#program.pathname} ended (status ${this.#child.exitCode})`));
    this.#child.on('message', receive).once('exit', end);
    try {
      if (this.#ended) end();
      else this.#child.send(message);
      return await Deadline.within(within_ms, answered.promise);
    } finally {
      this.#child.off('message', receive).off('exit', end);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#ended) return;
    const exited = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await exited;
  }

  get #ended(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }
}
