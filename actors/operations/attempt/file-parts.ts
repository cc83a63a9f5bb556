import { OperationError } from '../../../storage/model/errors.js';
import { dropFileParts, storeFilePart } from '../../../storage/operations/operation-files.js';
import type { HeldOperation } from '../../../storage/operations/starts.js';
import type { Database } from '../../../storage/postgres/database.js';
import { retrying } from '../../retry.js';

/** The parts of the file that is the result of one attempt, stored in the order in which they are given (OPS-14). */
export class FileParts {
  readonly #db: Database;
  readonly #held: HeldOperation;
  readonly #attemptNumber: number;
  readonly #signal: AbortSignal;
  readonly #bound: number | null;
  #state: { kind: 'open' | 'closed' } = { kind: 'open' };
  #parts = 0;

  /** `signal` is the attempt's: once it is aborted nothing more is stored. `storedBound`: bytes that a workspace may store. */
  constructor(
    { db, storedBound }: { db: Database; storedBound: number | null },
    held: HeldOperation,
    attemptNumber: number,
    signal: AbortSignal,
  ) {
    this.#db = db;
    this.#bound = storedBound;
    this.#held = held;
    this.#attemptNumber = attemptNumber;
    this.#signal = signal;
  }

  /**
   * Stores the next part, again and again while the database does not answer. Calls `fenced`, and rejects, when the attempt is no longer
   * held; rejects with `storage_full` where the workspace may store no more (HTTP-27).
   */
  async store(bytes: Buffer, fenced: () => void): Promise<void> {
    const part = this.#parts++;
    const stored = await retrying(
      async () => {
        this.#signal.throwIfAborted();
        return storeFilePart(this.#db, this.#held, { part, bytes, bound: this.#bound });
      },
      (error) => {
        this.#signal.throwIfAborted();
        if (this.#state.kind === 'closed') throw error;
      },
    );
    if (stored === 'stored') return;
    if (stored === 'full') throw new OperationError('storage_full');
    fenced();
    this.#signal.throwIfAborted();
  }

  /** Deletes what was stored, with what a lost worker left of an attempt before. */
  async drop(): Promise<void> {
    if (this.#parts > 0 || this.#attemptNumber > 1) await dropFileParts(this.#db, this.#held);
  }

  /** The attempt is over: a part that the database did not take is not tried again. */
  close(): void {
    this.#state = { kind: 'closed' };
  }
}
