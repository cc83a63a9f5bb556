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
import { type Instant, LeaseCell } from '../lease.js';
import { LIMITS } from '../limits.js';
import { Slots } from '../slots.js';

/** A partition that was taken, recovered. */
export interface TakenPartition extends OwnedPartition {
  /** When the statement began that gave its lease. */
  since: Instant;
  /** Operations that its recovery ended. */
  ended: EndedOperation[];
}

/**
 * The transactions that take partitions. Invariants: I1 each takes one partition, so that what locks the rows of one delays no
 * other; I2 none waits longer than LIMITS.taking_lock_ms for a lock; I3 at most LIMITS.taking_transactions are under way, so that
 * a renewal finds a free connection.
 */
export class Takings {
  readonly #db: Database;
  readonly #nodeId: string;
  readonly #slots = new Slots(LIMITS.taking_transactions);

  constructor(db: Database, nodeId: string) {
    this.#db = db;
    this.#nodeId = nodeId;
  }

  /** Takes a partition that is free or names this node already. Undefined when another node was sooner. */
  claim(id: number): Promise<TakenPartition | undefined> {
    return this.#take((tx, onEnded) => claimPartitions(tx, this.#nodeId, 1, LIMITS.lease_ms, [id], onEnded)); // I1
  }

  /** Takes a partition of this node again, all but what is in hand recovered. Undefined when it is another node's by now. */
  retake(id: number, inHand?: string[]): Promise<TakenPartition | undefined> {
    return this.#take((tx, onEnded) => retakePartitions(tx, this.#nodeId, [id], LIMITS.lease_ms, inHand, onEnded)); // I1
  }

  #take(take: (tx: Sql, onEnded: OnEnded) => Promise<OwnedPartition[]>): Promise<TakenPartition | undefined> {
    const transaction = async (tx: Sql) => {
      await limitLockWaits(tx, LIMITS.taking_lock_ms); // I2
      const ended: EndedOperation[] = [];
      const [taken] = await take(tx, (operation) => ended.push(operation));
      if (!taken) return undefined;
      const since = LeaseCell.now();
      await beginLeases(tx, [taken.id], LIMITS.lease_ms);
      return { ...taken, since, ended };
    };
    return this.#slots.within(() => this.#db.transaction(transaction)); // I3
  }
}
