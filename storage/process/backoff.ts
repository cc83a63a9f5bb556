import { ExponentialBackoff, halfJitterGenerator, noJitterGenerator } from 'cockatiel';

/** Waits double from `first_ms` up to `cap_ms`; `jitter` takes up to half of each wait off at random. */
export interface BackoffOptions {
  first_ms: number;
  cap_ms: number;
  jitter?: boolean;
}

/**
 * The waits between the attempts of one thing, in milliseconds. Everything that tries again takes its waits from here;
 * parts that fail together use jitter, so that they do not come back together.
 */
export class Backoff {
  readonly #policy: ExponentialBackoff<number>;
  #current: ReturnType<ExponentialBackoff<number>['next']> | undefined;

  constructor({ first_ms, cap_ms, jitter = false }: BackoffOptions) {
    this.#policy = new ExponentialBackoff({
      initialDelay: first_ms,
      maxDelay: cap_ms,
      exponent: 2,
      generator: jitter ? halfJitterGenerator : noJitterGenerator,
    });
  }

  /** How long to wait now, in milliseconds; the next wait is twice as long, up to the cap. */
  next_ms(): number {
    this.#current = this.#current ? this.#current.next(undefined) : this.#policy.next();
    return this.#current.duration;
  }

  /** After a success: the next wait is the first one again. */
  reset(): void {
    this.#current = undefined;
  }
}
