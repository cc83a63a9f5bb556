import { LIMITS } from '../start/limits.js';

/** What a command that takes long is at, on stderr: a line every two seconds, and none of one that is quick. */
export class Progress {
  #last = performance.now();

  tell(line: string): void {
    const now = performance.now();
    if (now - this.#last < LIMITS.progress_ms) return;
    this.#last = now;
    process.stderr.write(`${line}\n`);
  }
}
