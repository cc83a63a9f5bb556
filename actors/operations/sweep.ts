import type { Logger } from '../../storage/log.js';
import { mailboxesInRows } from '../../storage/operations/owner-polls.js';
import type { Database } from '../../storage/postgres/database.js';
import { LIMITS } from '../limits.js';
import type { Partition } from './partition.js';

const FIRST = '00000000-0000-0000-0000-000000000000';

export interface SweepOptions {
  db: Database;
  log: Logger;
  /** The partitions that this thread owns now. */
  partitions(): Partition[];
}

/**
 * Compares which mailboxes of the owned partitions stand in the rows as open with those that are open in hand, partition after partition:
 * the net under every lost answer that is not noticed where it is lost. What a mailbox in hand lacks is found when it is settled.
 *
 * Invariants: I1 at most LIMITS.sweep_partitions are compared at a time, each at most every LIMITS.sweep_ms; I2 what is on its way
 * between the rows and memory may differ for a moment: only what differs in two looks in a row puts the partition in doubt.
 */
export class Sweep {
  readonly #options: SweepOptions;
  /** When each partition was looked at last, by the monotonic clock, and what differed then. */
  readonly #looks = new WeakMap<Partition, { at_ms: number; after: string; missing: Set<string> }>();

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
    const { after = FIRST, missing: before } = this.#looks.get(partition) ?? {};
    const rows = await mailboxesInRows(db, partition.id, after, LIMITS.sweep_mailboxes);
    if (!partition.comparable || partition.epoch !== epoch) return;
    const missing = new Set(rows.flatMap(({ id, open }) => (open && !partition.isOpen(id) ? [id] : [])));
    const lost = [...missing].filter((id) => before?.has(id)); // I2
    // The same mailboxes are looked at again while some of them are missing, else those behind them.
    const last = rows.length < LIMITS.sweep_mailboxes ? FIRST : (rows.at(-1)?.id ?? FIRST);
    this.#looks.set(partition, { at_ms: performance.now(), after: missing.size > 0 ? after : last, missing });
    if (lost.length === 0) return;
    log.warn(
      { partition: partition.id, mailboxes: lost.length, first: lost[0] },
      'mailboxes are in no hand, taking the partition again',
    );
    partition.doubt();
  }
}
