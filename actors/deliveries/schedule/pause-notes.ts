import { setTimeout as wait } from 'node:timers/promises';
import { forgetPauses, notePauses } from '../../../storage/deliveries/pauses.js';
import type { Logger } from '../../../storage/log/log.js';
import type { Database } from '../../../storage/postgres/database.js';
import { Backoff } from '../../../storage/process/backoff.js';
import type { AttemptError } from '../callback/attempt-error.js';
import { LIMITS } from '../limits.js';

/**
 * Writes which destinations are paused, for their owners to see, and for the threads that own their subscriptions next. Invariants:
 * I1 one write at a time, so that the last word on a destination is written last;
 * I2 what could not be written is written again, until there is a later word on the destination, or the thread drains: then whoever
 *    tries the destination next puts the note right.
 */
export class PauseNotes {
  readonly #db: Database;
  readonly #log: Logger;
  /** What is to be written: why it is paused, or null when it has answered. */
  #words = new Map<string, AttemptError | null>();
  #writing: Promise<void> | undefined;
  readonly #closing = new AbortController();

  constructor(db: Database, log: Logger) {
    this.#db = db;
    this.#log = log;
  }

  paused(destination: string, reason: AttemptError): void {
    this.#write(destination, reason);
  }

  answered(destination: string): void {
    this.#write(destination, null);
  }

  /** Resolves when nothing more is written; what fails from now on is left out (I2). */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#writing;
  }

  #write(destination: string, word: AttemptError | null): void {
    this.#words.set(destination, word);
    this.#writing ??= this.#flush();
  }

  /** Never rejects. */
  async #flush(): Promise<void> {
    const backoff = new Backoff({ first_ms: LIMITS.pause_note_retry_ms, cap_ms: LIMITS.statement_retry_cap_ms });
    const { signal } = this.#closing;
    while (this.#words.size > 0) {
      const words = this.#words;
      this.#words = new Map();
      try {
        await this.#store(words); // I1
        backoff.reset();
      } catch (error) {
        if (signal.aborted) break;
        this.#log.warn({ err: error }, 'deliveries: paused destinations were not written, trying again');
        this.#words = new Map([...words, ...this.#words]); // I2
        await wait(backoff.next_ms(), undefined, { signal }).catch(() => {});
      }
    }
    // In the same turn as the last look for words: the next one finds that nothing is being written.
    this.#writing = undefined;
  }

  async #store(words: Map<string, AttemptError | null>): Promise<void> {
    const paused = [...words].flatMap(([destination, reason]) => (reason === null ? [] : [{ destination, reason }]));
    const answered = [...words].flatMap(([destination, reason]) => (reason === null ? [destination] : []));
    if (paused.length > 0) await notePauses(this.#db, paused);
    if (answered.length > 0) await forgetPauses(this.#db, answered);
  }
}
