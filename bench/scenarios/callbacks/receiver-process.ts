import { type ChildProcess, fork } from 'node:child_process';
import type { FromReceiver, ToReceiver } from './receiver.js';

/** The receiver of callbacks as a process of its own, and the requests it takes. */
export class ReceiverProcess {
  readonly #child: ChildProcess = fork(new URL('./receiver.js', import.meta.url)).setMaxListeners(0);
  #ending = false;

  /** Lets it end. Open requests stay without an answer. */
  end(): void {
    this.#ending = true;
    this.#child.disconnect();
  }

  /** Sends a message and waits for the next one of the type that answers it. Throws when the process ends first. */
  async request<T extends FromReceiver['type']>(
    message: ToReceiver,
    answer: T,
  ): Promise<Extract<FromReceiver, { type: T }>> {
    const answered = Promise.withResolvers<Extract<FromReceiver, { type: T }>>();
    const receive = (received: FromReceiver) => {
      if (received.type === answer) answered.resolve(received as Extract<FromReceiver, { type: T }>);
    };
    const end = () => {
      if (!this.#ending) answered.reject(new Error('the receiver ended'));
    };
    this.#child.on('message', receive).once('exit', end);
    try {
      if (this.#child.connected) this.#child.send(message);
      else answered.reject(new Error('the receiver ended'));
      return await answered.promise;
    } finally {
      this.#child.off('message', receive).off('exit', end);
    }
  }
}
