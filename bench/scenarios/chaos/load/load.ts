import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import type { FromLoad, LoadOrder, LoadProgress, ToLoad } from './messages.js';

/** The clients, as the run sees them. */
export class LoadProcess implements AsyncDisposable {
  readonly #child: ChildProcess = fork(new URL('./program.js', import.meta.url), { execArgv: [] });
  progress: LoadProgress = { sent: 0, accepted: 0, under_way: 0, left_out: 0 };
  #done = false;

  constructor(order: LoadOrder) {
    this.#child.on('message', (message: FromLoad) => {
      if (message.type === 'progress') this.progress = message.progress;
      else this.#done = true;
    });
    this.#send({ type: 'start', order });
  }

  /** What is not answered is still sent again; logins go on. */
  submitNothingNew(): void {
    this.#send({ type: 'submit_nothing_new' });
  }

  /** Resolves when every submission has its answer, or has none to expect. Throws when the process ends before. */
  async stop(): Promise<void> {
    this.#send({ type: 'stop' });
    if (this.#child.exitCode === null) await once(this.#child, 'exit');
    if (!this.#done) throw new Error('the clients ended before their work was done');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    this.#child.kill('SIGKILL');
    await once(this.#child, 'exit');
  }

  #send(message: ToLoad): void {
    this.#child.send(message);
  }
}
