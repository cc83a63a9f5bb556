import { newId } from '../../../storage/model/new-id.js';

/**
 * The operations that a thread is storing, from the making of their ids until the answers of their statements. Such an operation may be in its
 * row, and its client may know it from another node, while this thread does not: who reads rows finds it there, and then it is not handed
 * over once more when its answer comes.
 */
export class PendingStores {
  /** In the order of their ids. True: it was found in its row. */
  readonly #found = new Map<string, boolean>();

  /** The lowest id that an operation of this thread's can have whose answer has not come, or is to be asked for. */
  get first(): string {
    return this.#found.keys().next().value ?? newId();
  }

  /** An id that was just made: it is above those before. */
  add(operationId: string): void {
    this.#found.set(operationId, false);
  }

  /** An operation was read from its row, and is in hand. */
  found(operationId: string): void {
    if (this.#found.has(operationId)) this.#found.set(operationId, true);
  }

  wasFound(operationId: string): boolean {
    return this.#found.get(operationId) === true;
  }

  /** It is stored, or is not. */
  answered(operationId: string): void {
    this.#found.delete(operationId);
  }
}
