import { type OwnedPartition, renewLeases } from '../../storage/partitions/partitions.js';
import type { Database } from '../../storage/postgres/database.js';
import { type Instant, LeaseCell } from '../lease.js';
import { LIMITS } from '../limits.js';
import type { TakenPartition } from './partition-claims.js';

/** One partition that this node holds. */
export interface Holding {
  readonly id: number;
  epoch: number;
  /** It is being given up; resolves when that is stored, or could not be. */
  release: Promise<void> | undefined;
  /** How often it is to be taken again: meanwhile its row may have an epoch that this node does not know yet. */
  retakings: number;
  /** Resolves when none of these is under way. Never rejects. */
  retaken: Promise<void>;
}

/** How long a lease is relied on, from the beginning of the statement that gave it. */
const TRUSTED_ms = LIMITS.lease_ms - LIMITS.lease_margin_ms;

/**
 * The partitions that a node knows it holds, and what it promises its threads of their leases. Invariants:
 * I1 the cell of a partition never promises more than the last statement that gave or renewed its own lease: one whose row stays
 *    locked runs out, whatever becomes of the others.
 */
export class OwnedLeases {
  readonly #held = new Map<number, Holding>();
  readonly #lease: LeaseCell;
  #renewedAt_ns = 0n;

  constructor(lease: LeaseCell) {
    this.#lease = lease;
  }

  get size(): number {
    return this.#held.size;
  }

  /** True while the last round of renewals can be relied on, whether or not anything is held. */
  get current(): boolean {
    return LeaseCell.now().ns - this.#renewedAt_ns < BigInt(TRUSTED_ms) * 1_000_000n;
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
    this.#held.set(id, { id, epoch, release: undefined, retakings: 0, retaken: Promise.resolve() });
    this.#promise(since, [id]); // I1
  }

  /** It was taken again. */
  update(holding: Holding, { epoch, since }: TakenPartition): void {
    holding.epoch = epoch;
    this.#promise(since, [holding.id]); // I1
  }

  delete(id: number): void {
    this.#held.delete(id);
  }

  /** Renews every lease in one statement. Returns those that are lost, which are held no more. */
  async renew(db: Database, nodeId: string, counted: boolean): Promise<number[]> {
    const since = LeaseCell.now();
    const asked: OwnedPartition[] = this.all.map(({ id, epoch }) => ({ id, epoch }));
    const lost: number[] = [];
    const kept: number[] = [];
    for (const { id, epoch, standing } of await renewLeases(db, nodeId, LIMITS.lease_ms, asked, counted)) {
      const holding = this.#held.get(id);
      if (holding?.epoch !== epoch) continue; // released or taken again while the statement was under way
      if (standing === 'renewed') kept.push(id);
      if (standing === 'lost' && holding.retakings === 0) lost.push(id);
    }
    for (const id of lost) this.#held.delete(id);
    this.#renewedAt_ns = since.ns;
    this.#promise(since, kept); // I1
    return lost;
  }

  #promise(since: Instant, partitions: number[]): void {
    this.#lease.renewed(since, TRUSTED_ms, partitions);
  }
}
