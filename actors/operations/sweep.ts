import type { Logger } from '../../storage/log.js';
import { operationsInRows } from '../../storage/operations/owner-polls.js';
import type { Database } from '../../storage/postgres/database.js';
import { LIMITS } from '../limits.js';
import type { Partition } from './partition.js';

export interface SweepOptions {
  db: Database;
  log: Logger;
  /** The partitions that this thread owns now. */
  partitions(): Partition[];
}

/**
 * Compares what the rows of the owned partitions show as fetched or running with what is in hand, partition after partition: the net
 * under every lost answer that is not noticed where it is lost.
 *
 * Invariants: I1 at most LIMITS.sweep_partitions are compared at a time, each at most every LIMITS.sweep_ms; I2 what is on its way
 * between the rows and memory may differ for a moment: only what differs in two looks in a row puts the partition in doubt.
 */
export class Sweep {
  readonly #options: SweepOptions;
  /** When each partition was looked at last, by the monotonic clock, and what differed then. */
  readonly #looks = new WeakMap<Partition, { at_ms: number; missing: Set<string> }>();

  constructor(options: SweepOptions) {
    this.#options = options;
  }

  /** Compares the partitions that have waited the longest. Rejects when the database fails. */
  async look(): Promise<void> {
    const now = performance.now();
    const due = this.#options
      .partitions()
      .filter((partition) => partition.comparable && now - this.#lookedAt(partition) >= LIMITS.sweep_ms)
      .sort((one, other) => this.#lookedAt(one) - this.#lookedAt(other))
      .slice(0, LIMITS.sweep_partitions); // I1
    for (const partition of due) await this.#compare(partition);
  }

  #lookedAt(partition: Partition): number {
    return this.#looks.get(partition)?.at_ms ?? Number.NEGATIVE_INFINITY;
  }

  async #compare(partition: Partition): Promise<void> {
    const { db, log } = this.#options;
    const { epoch } = partition;
    const inRows = await operationsInRows(db, partition.id, LIMITS.sweep_jobs);
    if (!partition.comparable || partition.epoch !== epoch) return;
    const missing = new Set(inRows);
    for (const actor of partition.actors()) for (const id of actor.inHand) missing.delete(id);
    const before = this.#looks.get(partition)?.missing;
    const lost = [...missing].filter((id) => before?.has(id)); // I2
    this.#looks.set(partition, { at_ms: performance.now(), missing });
    if (lost.length === 0) return;
    log.warn(
      { partition: partition.id, operations: lost.length, first: lost[0] },
      'operations are in no hand, taking the partition again',
    );
    partition.doubt();
  }
}
