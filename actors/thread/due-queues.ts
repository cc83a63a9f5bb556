import { dueQueues } from '../../storage/jobs/job-table.js';
import type { Database } from '../../storage/postgres/database.js';
import { isUnreachable } from '../../storage/postgres/liveness.js';
import { LIMITS } from '../limits.js';

export type DueQueue = Awaited<ReturnType<typeof dueQueues>>[number];

/**
 * The slow poll behind lost hints: which queues of a thread hold a job that is due. The index keeps what was deleted while a transaction is
 * open that is older, for example of `pg_dump`, and each look reads it again.
 *
 * I1. Looking takes a twentieth of the time, however much there is to read; but it rests for LIMITS.poll_rest_cap_ms at most, so that what no hint told
 *     of is found soon, and not at all after the database could not be reached: hints were lost meanwhile, and there was nothing to read.
 * I2. A statement looks at fewer partitions after one that was slow or failed, at more after one that was not.
 */
export class DueQueues {
  readonly #db: Database;
  /** How many partitions a statement looks at. */
  #partitions: number = LIMITS.polled_partitions;
  /** On the monotonic clock. */
  #restsUntil = 0;

  constructor(db: Database) {
    this.#db = db;
  }

  /** None while it rests, or looks already (I1). */
  async look(partitions: readonly number[]): Promise<DueQueue[]> {
    const began = performance.now();
    if (began < this.#restsUntil) return [];
    this.#restsUntil = Number.POSITIVE_INFINITY; // until this look has ended
    let rests: number = LIMITS.poll_rests;
    try {
      return await this.lookNow(partitions);
    } catch (error) {
      if (isUnreachable(error)) rests = 0;
      throw error;
    } finally {
      const ended = performance.now();
      this.#restsUntil = ended + Math.min((ended - began) * rests, LIMITS.poll_rest_cap_ms); // I1
    }
  }

  /** Whether or not it rests. */
  async lookNow(partitions: readonly number[]): Promise<DueQueue[]> {
    const due: DueQueue[] = [];
    for (let next = 0; next < partitions.length; ) {
      const page = partitions.slice(next, next + this.#partitions);
      due.push(...(await this.#lookAt(page)));
      next += page.length;
    }
    return due;
  }

  async #lookAt(page: number[]): Promise<DueQueue[]> {
    const began = performance.now();
    let slow = true;
    try {
      const due = await dueQueues(this.#db, page);
      slow = performance.now() - began > LIMITS.slow_poll_ms;
      return due;
    } finally {
      const size = slow ? Math.ceil(page.length / 2) : this.#partitions * 2;
      this.#partitions = Math.min(LIMITS.polled_partitions, size); // I2
    }
  }
}
