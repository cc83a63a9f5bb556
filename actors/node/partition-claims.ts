import type { EndedOperation } from '../../storage/model/ended-operation.js';
import {
  beginLeases,
  claimPartitions,
  limitLockWaits,
  type OnEnded,
  type OwnedPartition,
  retakePartitions,
} from '../../storage/partitions/partitions.js';
import type { Database, Sql } from '../../storage/postgres/database.js';
import { FairSlots } from '../../storage/process/fair-slots.js';
import { type Instant, LeaseCell } from '../lease.js';
import { LIMITS } from '../limits.js';

/** A partition that was taken, recovered. */
export interface TakenPartition extends OwnedPartition {
  /** When the statement began that gave its lease. */
  since: Instant;
}

/** What a transaction took. */
export interface Taken {
  partitions: TakenPartition[];
  /** Operations that the recovery ended. */
  ended: EndedOperation[];
}

/**
 * The transactions that take partitions. Invariants: I1 each takes one partition, so that what locks the rows of one delays no
 * other, or several that are quiet: nothing is to be recovered there, so nothing else of theirs is locked; I2 none waits longer than LIMITS.taking_lock_ms for a lock; I3 at most LIMITS.taking_transactions are under way, so that
 * a renewal finds a free connection.
 */
export class PartitionClaims {
  readonly #db: Database;
  readonly #nodeId: string;
  readonly #slots = new FairSlots(LIMITS.taking_transactions);

  constructor(db: Database, nodeId: string) {
    this.#db = db;
    this.#nodeId = nodeId;
  }

  /** Takes a partition, or several that are quiet (`quietPartitions`), which are free or name this node already: those that it got. */
  claim(ids: number[]): Promise<Taken> {
    const { length } = ids;
    return this.#take((tx, onEnded) => claimPartitions(tx, this.#nodeId, length, LIMITS.lease_ms, ids, onEnded)); // I1
  }

  /** Takes a partition of this node again, all but what is in hand recovered. Nothing when it is another node's by now. */
  retake(id: number, inHand?: string[]): Promise<Taken> {
    return this.#take((tx, onEnded) => retakePartitions(tx, this.#nodeId, [id], LIMITS.lease_ms, inHand, onEnded)); // I1
  }

  #take(take: (tx: Sql, onEnded: OnEnded) => Promise<OwnedPartition[]>): Promise<Taken> {
    const transaction = async (tx: Sql) => {
      await limitLockWaits(tx, LIMITS.taking_lock_ms); // I2
      const ended: EndedOperation[] = [];
      const taken = await take(tx, (operation) => ended.push(operation));
      const since = LeaseCell.now();
      const ids = taken.map(({ id }) => id);
      if (ids.length > 0) await beginLeases(tx, ids, LIMITS.lease_ms);
      return { partitions: taken.map((partition) => ({ ...partition, since })), ended };
    };
    return this.#slots.within(this.#nodeId, () => this.#db.transaction(transaction)); // I3
  }
}
