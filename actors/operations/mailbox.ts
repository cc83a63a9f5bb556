import { LIMITS } from '../limits.js';

/**
 * The operation ids that wait for one connection, first in, first out.
 *
 * Invariants: I1 each is counted in the load that the actors of the partition share, for as long as it waits here; I2 taking one
 * costs the same however many wait (`Array.shift` moves all of a long array).
 */
export class Mailbox {
  readonly #load: { waiting: number };
  #ids: string[] = [];
  /** The place of the first one that waits; those before it were taken. */
  #first = 0;

  constructor(load: { waiting: number }) {
    this.#load = load;
  }

  get size(): number {
    return this.#ids.length - this.#first;
  }

  get first(): string | undefined {
    return this.#ids[this.#first];
  }

  get ids(): string[] {
    return this.#ids.slice(this.#first);
  }

  push(operationId: string): void {
    this.#ids.push(operationId);
    this.#load.waiting++; // I1
  }

  /** Puts an operation back to the place it was taken from. */
  putBack(operationId: string): void {
    if (this.#first > 0) this.#ids[--this.#first] = operationId;
    else this.#ids.unshift(operationId);
    this.#load.waiting++; // I1
  }

  shift(): string | undefined {
    const operationId = this.#ids[this.#first];
    if (operationId === undefined) return undefined;
    this.#first++;
    this.#load.waiting--; // I1
    const taken = this.#first;
    if (taken === this.#ids.length || (taken >= LIMITS.mailbox_taken && taken * 2 > this.#ids.length)) this.#compact(); // I2
    return operationId;
  }

  clear(): void {
    this.#load.waiting -= this.size; // I1
    this.#ids = [];
    this.#first = 0;
  }

  #compact(): void {
    this.#ids = this.ids;
    this.#first = 0;
  }
}
