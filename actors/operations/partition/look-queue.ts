import type { Logger } from '../../../storage/log/log.js';
import { requestedLooks } from '../../../storage/operations/looks.js';
import type { Database } from '../../../storage/postgres/database.js';
import type { Partition } from './partition.js';

export interface LookQueueOptions {
  db: Database;
  log: Logger;
  /** The partitions that this thread owns now. */
  partitions(): Partition[];
}

/**
 * Hands the looks that were asked for (OPS-22) to the actors of their connections: at a hint, at every slow poll, and when a look has
 * ended.
 *
 * I1. A connection has one look in hand at most, however many are asked for: the others wait in their rows.
 * I2. One statement at a time; what is asked for meanwhile is answered by one more.
 */
export class LookQueue {
  readonly #options: LookQueueOptions;
  /** The fetch that is under way; `again`: another was asked for meanwhile. */
  #fetching: { again: boolean } | undefined;

  constructor(options: LookQueueOptions) {
    this.#options = options;
  }

  /** Hands over what is due. Never rejects: the next poll asks again. */
  async fetch(): Promise<void> {
    if (this.#fetching) {
      this.#fetching.again = true; // I2
      return;
    }
    const fetching = { again: false };
    this.#fetching = fetching;
    try {
      do {
        fetching.again = false;
        await this.#handOver();
      } while (fetching.again);
    } catch (error) {
      this.#options.log.error({ err: error }, 'looks: they could not be fetched');
    } finally {
      this.#fetching = undefined;
    }
  }

  async #handOver(): Promise<void> {
    const { db, partitions } = this.#options;
    const owned = new Map(partitions().map((partition) => [partition.id, partition]));
    if (owned.size === 0) return;
    const inHand = [...owned.values()].flatMap((partition) => partition.looking);
    for (const request of await requestedLooks(db, [...owned.keys()], inHand)) {
      owned.get(request.partition)?.look(request); // I1
    }
  }
}
