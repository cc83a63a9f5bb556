import { setTimeout as delay } from 'node:timers/promises';

/**
 * Work beside the service, one round after the other: each says how many milliseconds later the next one begins, or, with undefined, that
 * there is none. A round handles its own failures.
 */
export class Background {
  readonly #round: (isStopping: () => boolean) => Promise<number | undefined>;
  readonly #stop = new AbortController();
  #work: Promise<void> = Promise.resolve();

  constructor(round: (isStopping: () => boolean) => Promise<number | undefined>) {
    this.#round = round;
  }

  start(): void {
    this.#work = this.#run();
  }

  /** Begins no further round; resolves when the one under way is over. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#work;
  }

  /** Resolves behind the last round. */
  get ended(): Promise<void> {
    return this.#work;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const wait_ms = await this.#round(() => signal.aborted);
      if (wait_ms === undefined) return;
      await delay(wait_ms, undefined, { signal, ref: false }).catch(() => {});
    }
  }
}
