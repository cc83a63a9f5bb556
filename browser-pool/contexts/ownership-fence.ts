import { RunFailure } from '../failures.js';

/** The version of a connection that a run is made for. Both numbers only grow. */
export interface Ownership {
  stateRevision: number;
  epoch: number;
}

/**
 * The highest ownership seen of each connection. Runs of an older one are refused, because a newer owner may have used
 * and saved the session.
 *
 * I1. What is admitted for a connection never decreases, for as long as the connection is among the `limit` seen last.
 */
export class OwnershipFence {
  readonly #limit: number;
  /** Insertion order is the order in which the connections were last seen. */
  readonly #highest = new Map<string, Ownership>();

  /** `limit` counts connections. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Remembers this ownership; throws `session_fenced` when a higher one was seen. */
  admit(connectionId: string, { stateRevision, epoch }: Ownership): void {
    const highest = this.#highest.get(connectionId);
    if (highest && (stateRevision < highest.stateRevision || epoch < highest.epoch)) {
      throw new RunFailure('session_fenced'); // I1
    }
    this.#highest.delete(connectionId);
    this.#highest.set(connectionId, { stateRevision, epoch });
    if (this.#highest.size > this.#limit) this.#highest.delete(this.#highest.keys().next().value ?? '');
  }
}
