import type { Logger } from '../../../storage/log/log.js';

/** Decides whether one more connection may stay, and tells of it in the log once, not for each that may not. */
export class ConnectionCount {
  readonly #bound: number;
  readonly #log: Logger;
  #open = 0;
  /** The bound was reached, and a tenth of it has not become free since. */
  #told = false;

  constructor(bound: number, log: Logger) {
    this.#bound = bound;
    this.#log = log;
  }

  /** One was opened. False: it is one too many, and is to be closed. */
  opened(): boolean {
    this.#open++;
    if (this.#open <= this.#bound) return true;
    if (!this.#told) this.#log.warn({ connections: this.#bound }, 'http: too many connections, new ones are closed');
    this.#told = true;
    return false;
  }

  /** One was closed, by either side. */
  closed(): void {
    this.#open--;
    if (this.#open <= this.#bound * 0.9) this.#told = false;
  }
}
