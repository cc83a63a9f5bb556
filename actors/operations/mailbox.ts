/**
 * The operation ids that wait for one connection, first in, first out.
 *
 * Invariants: I1 each is counted in the load that the actors of the partition share, for as long as it waits here.
 */
export class Mailbox {
  readonly #load: { waiting: number };
  #waiting: string[] = [];

  constructor(load: { waiting: number }) {
    this.#load = load;
  }

  get size(): number {
    return this.#waiting.length;
  }

  get ids(): string[] {
    return [...this.#waiting];
  }

  push(operationId: string): void {
    this.#waiting.push(operationId);
    this.#load.waiting++; // I1
  }

  /** Puts an operation back to the place it was taken from. */
  putBack(operationId: string): void {
    this.#waiting.unshift(operationId);
    this.#load.waiting++; // I1
  }

  shift(): string | undefined {
    const operationId = this.#waiting.shift();
    if (operationId !== undefined) this.#load.waiting--; // I1
    return operationId;
  }

  clear(): void {
    this.#load.waiting -= this.#waiting.length; // I1
    this.#waiting = [];
  }
}
