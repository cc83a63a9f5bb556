import { LIMITS } from './limits.js';

type Say = (line: string) => void;

/** Says the line every two seconds until the work is done. */
export async function withProgress<T>(say: Say, line: () => string, work: Promise<T>): Promise<T> {
  const timer = setInterval(() => say(line()), LIMITS.progress_ms);
  try {
    return await work;
  } finally {
    clearInterval(timer);
  }
}

/** Repeats the last line while nothing else is said, with how long that has been, so that a quiet run is not taken for a dead one. */
export class Voice {
  readonly #write: Say;
  readonly #timer: NodeJS.Timeout;
  #last = '';
  #since = performance.now();

  constructor(write: Say) {
    this.#write = write;
    this.#timer = setTimeout(() => this.#repeat(), LIMITS.silence_ms);
    this.#timer.unref();
  }

  readonly say: Say = (line) => {
    this.#last = line;
    this.#since = performance.now();
    this.#write(line);
    this.#timer.refresh();
  };

  stop(): void {
    clearTimeout(this.#timer);
  }

  #repeat(): void {
    if (this.#last !== '') this.#write(`${this.#last} (${Math.round((performance.now() - this.#since) / 1_000)} s)`);
    this.#timer.refresh();
  }
}
