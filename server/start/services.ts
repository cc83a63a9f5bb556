import type { Logger } from '../../storage/log/log.js';

/**
 * The services of this process that run, in the order in which they stand on each other. They are stopped from the last to the first, also when a
 * start fails in the middle: each is added as soon as it can be stopped.
 */
export class Services {
  readonly #running: { name: string; stop(): unknown }[] = [];

  /** `stop` may be asynchronous. */
  add(name: string, stop: () => unknown): void {
    this.#running.push({ name, stop });
  }

  /** Stops one after the other. One whose stop fails is logged, and those below it are stopped all the same. */
  async stop(log: Logger): Promise<void> {
    for (let one = this.#running.pop(); one; one = this.#running.pop()) {
      try {
        await one.stop();
      } catch (error) {
        log.error({ err: error, service: one.name }, 'service: stopping failed');
      }
    }
    log.info('stopped');
  }
}
