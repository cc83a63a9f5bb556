import { type OwnedPartition, type RenewedLease, renewLeases } from '../../storage/partitions/partitions.js';
import type { Database } from '../../storage/postgres/database.js';
import { LeaseCell } from '../lease.js';
import { LIMITS } from '../limits.js';
import type { TakenPartition } from './takings.js';

/** One partition that this node holds. */
export interface Holding {
  readonly id: number;
  epoch: number;
  /** When the statement began that last gave or renewed its lease. */
  since: bigint;
  /** It is being given up; resolves when that is stored, or could not be. */
  release: Promise<void> | undefined;
  /** How often it is to be taken again: meanwhile its row may have an epoch that this node does not know yet. */
  retakings: number;
  /** Resolves when none of these is under way. Never rejects. */
  retaken: Promise<void>;
}

/** How long a lease may go without a renewal, in nanoseconds: later it would end what the cell promises of all the others. */
const PATIENCE_ns = BigInt(LIMITS.lease_ms - LIMITS.lease_margin_ms - LIMITS.renew_ms) * 1_000_000n;

/**
 * The partitions that a node knows it holds, and what it promises its threads of their leases. Invariants:
 * I1 the shared cell never promises more than the shortest of the leases that are held;
 * I2 a partition whose row stays locked is let go before its lease would shorten that promise.
 */
export class Holdings {
  readonly #held = new Map<number, Holding>();
  readonly #lease: LeaseCell;

  constructor(lease: LeaseCell) {
    this.#lease = lease;
  }

  get size(): number {
    return this.#held.size;
  }

  get ids(): number[] {
    return [...this.#held.keys()];
  }

  get all(): Holding[] {
    return [...this.#held.values()];
  }

  get(id: number): Holding | undefined {
    return this.#held.get(id);
  }

  /** False once it was lost or released, even if the partition was taken again since. */
  has(holding: Holding): boolean {
    return this.#held.get(holding.id) === holding;
  }

  add({ id, epoch, since }: TakenPartition): void {
    this.#held.set(id, { id, epoch, since, release: undefined, retakings: 0, retaken: Promise.resolve() });
    this.#promise(since);
  }

  /** It was taken again. */
  update(holding: Holding, { epoch, since }: TakenPartition): void {
    Object.assign(holding, { epoch, since });
    this.#promise(since);
  }

  delete(id: number): void {
    this.#held.delete(id);
  }

  /** Renews every lease in one statement. Returns those that are lost, which are held no more. */
  async renew(db: Database, nodeId: string, counted: boolean): Promise<number[]> {
    const since = LeaseCell.now();
    const asked: OwnedPartition[] = this.all.map(({ id, epoch }) => ({ id, epoch }));
    const lost: number[] = [];
    for (const renewed of await renewLeases(db, nodeId, LIMITS.lease_ms, asked, counted)) {
      if (!this.#renewed(renewed, since)) lost.push(renewed.id);
    }
    for (const id of lost) this.#held.delete(id);
    this.#promise(since);
    return lost;
  }

  /** False when the partition is lost. */
  #renewed({ id, epoch, standing }: RenewedLease, since: bigint): boolean {
    const holding = this.#held.get(id);
    if (holding?.epoch !== epoch) return true; // released or taken again while the statement was under way
    if (standing === 'renewed') holding.since = since;
    return since - holding.since <= PATIENCE_ns && (standing !== 'lost' || holding.retakings > 0); // I2
  }

  /** I1 */
  #promise(latest: bigint): void {
    let since = latest;
    for (const holding of this.#held.values()) if (holding.since < since) since = holding.since;
    this.#lease.renewed(since, LIMITS.lease_ms - LIMITS.lease_margin_ms);
  }
}
