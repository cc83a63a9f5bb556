import type { Logger } from '../../storage/log.js';
import { PARTITIONS } from '../../storage/model/records.js';
import {
  claimPartitions,
  forgetNode,
  liveNodes,
  type OwnedPartition,
  releasePartitions,
  renewLeases,
  retakePartitions,
} from '../../storage/partitions/partitions.js';
import type { Database } from '../../storage/postgres/database.js';
import { checkStep, type Steps } from '../../storage/steps.js';
import { type Instant, LeaseCell } from '../lease.js';
import { LIMITS } from '../limits.js';

export interface OwnershipOptions {
  db: Database;
  nodeId: string;
  lease: LeaseCell;
  log: Logger;
  /** This node owns these now, under these epochs. */
  own(partitions: OwnedPartition[]): void;
  /** These were lost: store nothing more of them. */
  lost(partitions: number[]): void;
  /** Stop these and resolve when nothing of them runs; they are released then. */
  giveUp(partitions: number[]): Promise<void>;
}

type OwnershipState =
  | { kind: 'new' | 'stopped' }
  /** `timer` renews; while *leaving* nothing more is claimed. */
  | { kind: 'renewing' | 'leaving'; timer: NodeJS.Timeout };

const STEPS: Steps<OwnershipState['kind']> = {
  new: ['renewing'],
  renewing: ['leaving'],
  leaving: ['stopped'],
  stopped: [],
};

/**
 * Which partitions this node owns, kept true by one renewal every LIMITS.renew_ms.
 *
 *     free ─ claim, recover ─▶ owned ─ renew ─▶ owned
 *                                ├─ give up (levelling, drain): disown, wait, release ─▶ free
 *                                └─ not renewed in time: lost ─▶ fenced by the next owner's epoch
 *
 * The node's share: new ─ start ─▶ renewing (claims and levels) ─ stop ─▶ leaving (renews only) ─ all released ─▶ stopped.
 * Invariants: I1 what `own` gets was recovered under its epoch in the same transaction; I2 what a renewal does not bring back
 * is `lost` before anything else is claimed; I3 the shared cell never promises more than the last renewal gave.
 */
export class Ownership {
  readonly #options: OwnershipOptions;
  /** Epochs by partition. */
  readonly #owned = new Map<number, number>();
  readonly #givingUp = new Set<number>();
  #round: Promise<void> = Promise.resolve();
  #state: OwnershipState = { kind: 'new' };

  constructor(options: OwnershipOptions) {
    this.#options = options;
  }

  get partitions(): number[] {
    return [...this.#owned.keys()];
  }

  owns(partition: number): boolean {
    return this.#owned.has(partition);
  }

  /** Registers the node and claims its share. Rejects when the database does not answer. */
  async start(): Promise<void> {
    await this.#tick();
    const timer = setInterval(() => {
      this.#round = this.#round
        .then(() => this.#tick())
        .catch((error) => this.#options.log.error({ err: error }, 'lease renewal failed'));
    }, LIMITS.renew_ms);
    this.#enter({ kind: 'renewing', timer });
  }

  /** The thread that ran these is gone: takes them again under their next epoch, recovered. */
  async retake(partitions: number[]): Promise<void> {
    const { db, nodeId } = this.#options;
    const mine = partitions.filter((id) => this.#owned.has(id));
    if (mine.length === 0) return;
    const startedAt = LeaseCell.now();
    this.#adopt(startedAt, await db.transaction((tx) => retakePartitions(tx, nodeId, mine, LIMITS.lease_ms)));
  }

  /** Claims nothing more, gives everything up as it ends, and takes the node out; leases are renewed until then. */
  async stop(): Promise<void> {
    if (this.#state.kind !== 'renewing') throw new Error('a node that has not started owns nothing to leave');
    const { timer } = this.#state;
    this.#enter({ kind: 'leaving', timer });
    await this.#round;
    await this.#release(this.partitions);
    clearInterval(timer);
    await this.#round;
    this.#enter({ kind: 'stopped' });
    await forgetNode(this.#options.db, this.#options.nodeId);
  }

  #enter(state: OwnershipState): void {
    checkStep('the ownership of partitions', STEPS, this.#state.kind, state.kind);
    this.#state = state;
  }

  async #renew(): Promise<void> {
    const { db, nodeId, lease, lost } = this.#options;
    const startedAt = LeaseCell.now();
    const renewed = await renewLeases(db, nodeId, LIMITS.lease_ms);
    lease.renewed(
      startedAt,
      LIMITS.lease_ms - LIMITS.lease_margin_ms,
      renewed.map(({ id }) => id),
    ); // I3
    const still = new Map(renewed.map(({ id, epoch }) => [id, epoch]));
    const gone = [...this.#owned].filter(([id, epoch]) => still.get(id) !== epoch).map(([id]) => id);
    for (const id of gone) this.#owned.delete(id);
    if (gone.length > 0) {
      this.#options.log.warn({ partitions: gone }, 'partitions lost');
      lost(gone); // I2
    }
  }

  async #tick(): Promise<void> {
    const { db, nodeId, log } = this.#options;
    await this.#renew();
    if (this.#state.kind === 'leaving') return;
    const nodes = Math.max(1, await liveNodes(db, LIMITS.lease_ms));
    const share = Math.ceil(PARTITIONS / nodes);
    if (this.#owned.size < share) {
      const wanted = share - this.#owned.size;
      const startedAt = LeaseCell.now();
      this.#adopt(startedAt, await db.transaction((tx) => claimPartitions(tx, nodeId, wanted, LIMITS.lease_ms)));
    } else if (this.#owned.size - this.#givingUp.size > share) {
      const excess = this.partitions.filter((id) => !this.#givingUp.has(id)).slice(share);
      log.info({ partitions: excess, nodes }, 'levelling partitions');
      void this.#release(excess).catch((error) => log.error({ err: error }, 'partitions could not be released'));
    }
  }

  #adopt(startedAt: Instant, partitions: OwnedPartition[]): void {
    if (partitions.length === 0) return;
    const ids = partitions.map(({ id }) => id);
    this.#options.lease.renewed(startedAt, LIMITS.lease_ms - LIMITS.lease_margin_ms, ids); // I3
    for (const { id, epoch } of partitions) this.#owned.set(id, epoch);
    this.#options.log.info({ partitions: partitions.length }, 'partitions taken');
    this.#options.own(partitions); // I1
  }

  async #release(partitions: number[]): Promise<void> {
    for (const id of partitions) this.#givingUp.add(id);
    try {
      await this.#options.giveUp(partitions);
      for (const id of partitions) this.#owned.delete(id);
      await releasePartitions(this.#options.db, this.#options.nodeId, partitions);
    } finally {
      for (const id of partitions) this.#givingUp.delete(id);
    }
  }
}
