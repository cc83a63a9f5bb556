import { setTimeout as delay } from 'node:timers/promises';
import type { Backoff } from './backoff.js';

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

export interface RegularWork {
  /** From the begin of one round to the begin of the next, which follows at once when a round takes longer. */
  interval_ms: number;
  /** The waits behind rounds that failed in a row. */
  waits: Backoff;
  /** Gets what a round threw. */
  failed(error: unknown): void;
}

/** The same round again and again, started; it begins with a wait of `interval_ms`. */
export function regularly({ interval_ms, waits, failed }: RegularWork, round: () => Promise<void>): Background {
  let waited = false;
  const work = new Background(async () => {
    if (!waited) {
      waited = true;
      return interval_ms;
    }
    const begun = performance.now();
    try {
      await round();
      waits.reset();
      return Math.max(0, interval_ms - (performance.now() - begun));
    } catch (error) {
      failed(error);
      return waits.next_ms();
    }
  });
  work.start();
  return work;
}
