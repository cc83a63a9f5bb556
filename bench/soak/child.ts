import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { Deadline } from '../../storage/process/deadline.js';
import { onCores } from '../cores.js';

/** A program of the bench that runs for long, as a process of its own, with the messages that it takes and gives. */
export class Child<To extends { type: string }, From extends { type: string }> implements AsyncDisposable {
  readonly #file: string;
  readonly #child: ChildProcess;

  /** `file` is the compiled program, relative to this folder; `cores` are the only ones it runs on. */
  constructor(file: string, cores: string | undefined, onMessage: (message: From) => void = () => {}) {
    this.#file = file;
    const [execPath, execArgv] = onCores(cores, process.execPath, []);
    this.#child = fork(new URL(file, import.meta.url), { execPath, execArgv });
    this.#child.on('message', onMessage);
  }

  /** Sends a message and gives the next one of the type that answers it. Throws when the process ends, or after `within_ms`. */
  async ask<T extends From['type']>(message: To, answer: T, within_ms: number): Promise<Extract<From, { type: T }>> {
    const answered = Promise.withResolvers<Extract<From, { type: T }>>();
    const receive = (received: From) => {
      if (received.type === answer) answered.resolve(received as Extract<From, { type: T }>);
    };
    const end = () => answered.reject(new Error(`${this.#file} ended (status ${this.#child.exitCode})`));
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
