import { performance } from 'node:perf_hooks';
import type { Logger } from '../../storage/log/log.js';
import { firstIdAt } from '../../storage/model/id-time.js';
import { lookAgain, lookAtOperations, type Orphan, rescueOrphans } from '../../storage/operations/orphans.js';
import type { Database } from '../../storage/postgres/database.js';
import { LIMITS } from '../limits.js';
import type { Orphan as Found, OperationCounters } from './operation-counters.js';

/** Its owner looks for the orphans of all partitions. */
export const LOOKING_PARTITION = 0;

export interface OrphansOptions {
  db: Database;
  log: Logger;
  counters: Pick<OperationCounters, 'orphaned'>;
  /** True while this thread owns the partition whose owner looks. */
  looks(): boolean;
}

/**
 * Looks for operations that have not ended and that no mailbox covers: the net under the mailbox protocol. In a sound system there are none.
 * One thread of the installation reads each operation once, soon after it was accepted, and those that had not ended again and again.
 *
 * Invariants: I1 only what two looks in a row find counts, and is made due; I2 a look takes at most two statements, of bounded size each; I3 at
 * most LIMITS.watched_operations are looked at again: past it those that were looked at the longest ago are left out.
 */
export class Orphans {
  readonly #options: OrphansOptions;
  /** Those that had not ended, the one that was looked at the longest ago first. */
  readonly #watched = new Set<string>();
  /** Orphans at their last look. */
  #suspects = new Set<string>();
  #after: string | undefined;
  #lookedAt_ms = Number.NEGATIVE_INFINITY;

  constructor(options: OrphansOptions) {
    this.#options = options;
  }

  /** Looks, if it is this thread's turn. Rejects when the database fails. */
  async look(): Promise<void> {
    const now_ms = performance.now();
    if (!this.#options.looks()) {
      this.#forget();
      return;
    }
    if (now_ms - this.#lookedAt_ms < LIMITS.orphan_look_ms) return;
    this.#lookedAt_ms = now_ms;
    const suspects = this.#suspects;
    this.#suspects = new Set();
    const orphans = [...(await this.#lookAgain(suspects)), ...(await this.#lookOn())];
    await this.found(
      'operation',
      orphans.filter(({ id }) => suspects.has(id)),
    );
    for (const { id } of orphans) if (!suspects.has(id)) this.#suspects.add(id); // I1
  }

  /** Tells of orphans that were found for sure, and makes them due. */
  async found(found: Found, orphans: Orphan[]): Promise<void> {
    const [first] = orphans;
    if (!first) return;
    const { db, log, counters } = this.#options;
    counters.orphaned(found, orphans.length);
    log.error(
      { operations: orphans.length, first: first.id, connection_id: first.connection_id, partition: first.partition },
      'orphans: operations are covered by no mailbox, making them due',
    );
    await rescueOrphans(db, orphans);
  }

  /** The suspects, and the next of those that had not ended. */
  async #lookAgain(suspects: ReadonlySet<string>): Promise<Orphan[]> {
    const ids = [...suspects];
    for (const id of this.#watched) {
      if (ids.length >= LIMITS.orphan_operations) break;
      this.#watched.delete(id);
      ids.push(id);
    }
    if (ids.length === 0) return [];
    const { live, orphans } = await lookAgain(this.#options.db, ids);
    this.#watch(live);
    return orphans;
  }

  /** The next operations that were not looked at yet. */
  async #lookOn(): Promise<Orphan[]> {
    const now_ms = Date.now();
    this.#after ??= firstIdAt(now_ms - LIMITS.orphan_history_ms);
    const before = firstIdAt(now_ms - LIMITS.orphan_age_ms);
    const page = await lookAtOperations(this.#options.db, this.#after, before, LIMITS.orphan_operations);
    this.#after = page.seen < LIMITS.orphan_operations ? later(this.#after, before) : (page.last ?? before);
    this.#watch(page.live);
    return page.orphans;
  }

  #watch(ids: string[]): void {
    for (const id of ids) this.#watched.add(id);
    for (const id of this.#watched) {
      if (this.#watched.size <= LIMITS.watched_operations) break; // I3
      this.#watched.delete(id);
    }
  }

  #forget(): void {
    this.#watched.clear();
    this.#suspects.clear();
    this.#after = undefined;
  }
}

/** A clock that was set back does not have it read anew what it has read. */
const later = (one: string, other: string) => (one > other ? one : other);
