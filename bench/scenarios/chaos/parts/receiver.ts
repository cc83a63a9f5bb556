import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import type { DemoReceiver } from '../../../../server/start/demo-receiver.js';
import { ended } from '../../../kit/processes.js';
import { steadyPort } from '../../../sandbox/steady-port.js';
import type { ReceiverMood, ReceiverOrder } from './receiver-program.js';

/** A receiver of callbacks as a process of its own, at an address that it keeps. */
export class ChaosReceiver implements AsyncDisposable {
  readonly origin: string;
  readonly #order: ReceiverOrder;
  #child: ChildProcess | undefined;

  private constructor(order: ReceiverOrder) {
    this.#order = order;
    this.origin = `https://${order.host}:${order.port}`;
  }

  /** Starts one; every callback is a line of the file. */
  static async start({ host, key, cert, secret }: DemoReceiver, logFile: string): Promise<ChaosReceiver> {
    const receiver = new ChaosReceiver({ host, key, cert, secret, port: await steadyPort(), logFile });
    await receiver.start();
    return receiver;
  }

  get secret(): string {
    return this.#order.secret;
  }

  async start(): Promise<void> {
    this.#child = fork(new URL('./receiver-program.js', import.meta.url), { execArgv: [] });
    this.#child.send(this.#order);
    await once(this.#child, 'message');
  }

  async kill(): Promise<void> {
    if (!this.#child) return;
    this.#child.kill('SIGKILL');
    await ended(this.#child);
  }

  setMood(mood: ReceiverMood): void {
    this.#child?.send({ mood });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }
}
