import { type ChildProcess, fork } from 'node:child_process';
import type { FromReceiver, ToReceiver } from './receiver.js';

/** The receiver of callbacks as a process of its own, and the requests it takes. */
export class ReceiverProcess {
  readonly #child: ChildProcess = fork(new URL('./receiver.js', import.meta.url));
  readonly #exited: Promise<never>;
  #ending = false;

  constructor() {
    this.#child.setMaxListeners(0);
    this.#exited = new Promise((_, reject) => {
      this.#child.once('exit', () => {
        if (!this.#ending) reject(new Error('the receiver ended'));
      });
    });
    this.#exited.catch(() => {});
  }

  /** Lets it end. Open requests stay without an answer. */
  end(): void {
    this.#ending = true;
    this.#child.disconnect();
  }

  /** Sends a message and waits for the next one of the type that answers it. */
  async request<T extends FromReceiver['type']>(
    message: ToReceiver,
    answer: T,
  ): Promise<Extract<FromReceiver, { type: T }>> {
    const answered = new Promise<Extract<FromReceiver, { type: T }>>((resolve) => {
      const receive = (received: FromReceiver) => {
        if (received.type !== answer) return;
        this.#child.off('message', receive);
        resolve(received as Extract<FromReceiver, { type: T }>);
      };
      this.#child.on('message', receive);
    });
    this.#child.send(message);
    return Promise.race([answered, this.#exited]);
  }
}
