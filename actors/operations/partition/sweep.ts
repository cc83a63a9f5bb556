import type { Logger } from '../../../storage/log/log.js';
import { lookAgain } from '../../../storage/operations/orphans.js';
import { mailboxesInRows } from '../../../storage/operations/owner-polls.js';
import type { Database } from '../../../storage/postgres/database.js';
import { LIMITS } from '../../limits.js';
import type { OperationCounters } from '../operation-counters.js';
import type { Orphans } from '../orphans.js';
import type { Partition } from './partition.js';

const FIRST = '00000000-0000-0000-0000-000000000000';

export interface SweepOptions {
  db: Database;
  log: Logger;
  counters: Pick<OperationCounters, 'orphaned'>;
  orphans: Orphans;
  /** The partitions that this thread owns now. */
  partitions(): Partition[];
}

/** What differed at a look at a partition: mailboxes that are open in the rows and not in hand, and those in hand that have no job. */
interface Difference {
  after: string;
  missing: ReadonlySet<string>;
  jobless: ReadonlySet<string>;
}

const SAME: Difference = { after: FIRST, missing: new Set(), jobless: new Set() };

/**
 * Compares which mailboxes of the owned partitions stand in the rows as open with those that are open in hand, in both directions, partition
 * after partition: the net under every lost answer that is not noticed where it is lost. `Orphans` looks at operations.
 *
 * Invariants: I1 at most LIMITS.sweep_partitions are compared at a time, each at most every LIMITS.sweep_ms; I2 what is on its way
 * between the rows and memory may differ for a moment: only what differs in two looks in a row puts the partition in doubt, and no mailbox for
 * which an operation is being stored.
 */
export class Sweep {
  readonly #options: SweepOptions;
  /** When each partition was looked at last, by the monotonic clock, and what differed then. */
  readonly #looks = new WeakMap<Partition, Difference & { at_ms: number }>();

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
    const { db } = this.#options;
    const { epoch } = partition;
    const before = this.#looks.get(partition) ?? SAME;
    const { after } = before;
    const inHand = [...partition.openMailboxes]; // what is opened from now on may not be in the rows that are read
    const rows = await mailboxesInRows(db, { id: partition.id, epoch }, after, LIMITS.sweep_mailboxes);
    if (!rows || !partition.comparable || partition.epoch !== epoch) return;
    const last = rows.length < LIMITS.sweep_mailboxes ? FIRST : (rows.at(-1)?.id ?? FIRST);
    const there = new Set(rows.map(({ id }) => id));
    const isCompared = (id: string) => id > after && (last === FIRST || id <= last);
    const isKnown = (id: string) => partition.isHeld(id) || partition.isStoring(id); // I2
    const missing = new Set(rows.flatMap(({ id, open }) => (open && !isKnown(id) ? [id] : [])));
    const jobless = new Set(inHand.filter((id) => isCompared(id) && !there.has(id) && partition.isHeld(id)));
    // The same mailboxes are looked at again while some of them differ, else those behind them.
    const next = missing.size > 0 || jobless.size > 0 ? after : last;
    this.#looks.set(partition, { at_ms: performance.now(), after: next, missing, jobless });
    await this.#remake(partition, twice(jobless, before.jobless)); // I2
    this.#retake(partition, twice(missing, before.missing)); // I2
  }

  /** What is in hand of these and has not ended is to have a job again. */
  async #remake(partition: Partition, jobless: string[]): Promise<void> {
    const ids = jobless.flatMap((id) => partition.actor(id)?.inHand ?? []);
    if (ids.length === 0) return; // the closing of each finds that it is closed
    const { orphans } = await lookAgain(this.#options.db, ids.slice(0, LIMITS.orphan_operations));
    await this.#options.orphans.found('memory', orphans);
  }

  /** The partition is to be taken again: what these hold is in no hand. */
  #retake(partition: Partition, missing: string[]): void {
    if (missing.length === 0) return;
    const { counters, log } = this.#options;
    counters.orphaned('row', missing.length);
    log.warn(
      { partition: partition.id, mailboxes: missing.length, first: missing[0] },
      'mailboxes are in no hand, taking the partition again',
    );
    partition.doubt();
  }
}

const twice = (now: ReadonlySet<string>, before: ReadonlySet<string>) => [...now].filter((id) => before.has(id));
