import { LIMITS as STORED_LIMITS } from '../../storage/limits.js';
import type { Logger } from '../../storage/log/log.js';
import type { EndedOperation } from '../../storage/model/ended-operation.js';
import { PARTITIONS } from '../../storage/model/records.js';
import { forgetNode, type OwnedPartition, releasePartitions } from '../../storage/partitions/partitions.js';
import type { Database } from '../../storage/postgres/database.js';
import { isUnanswered } from '../../storage/postgres/liveness.js';
import { type Background, regularly } from '../../storage/process/background.js';
import { Deadline } from '../../storage/process/deadline.js';
import { checkStep, type Steps } from '../../storage/process/steps.js';
import type { LeaseCell } from '../lease.js';
import { LIMITS } from '../limits.js';
import { retrying, retryWaits, throughOutages } from '../retry.js';
import { levelPartitions } from './levelling.js';
import { type Holding, OwnedLeases } from './owned-leases.js';
import { PartitionClaims } from './partition-claims.js';

export interface OwnershipOptions {
  /** Its statements end by themselves, answered or not. */
  db: Database;
  nodeId: string;
  lease: LeaseCell;
  log: Logger;
  /** This node owns these now, under these epochs. */
  own(partitions: OwnedPartition[]): void;
  /** These, which this node owns, were taken again under these epochs; what their thread had in hand goes on. */
  renewed(partitions: OwnedPartition[]): void;
  /** These were lost, or released: store nothing more of them. */
  lost(partitions: number[]): void;
  /** Operations that the recovery of a partition ended: their worker was lost. */
  ended(operations: EndedOperation[]): void;
  /** Stop this one and resolve when nothing of it runs, or the time for it is over; it is released then. */
  giveUp(partition: number): Promise<void>;
  /** False when the thread of this partition is gone for good, or for longer than a lease. */
  runnable(partition: number): boolean;
}

type OwnershipState =
  | { kind: 'new' | 'stopped' }
  | { kind: 'renewing'; renewals: Background; levelling: Background | undefined }
  /** Leases are renewed; nothing more is claimed. */
  | { kind: 'leaving' };

const STEPS: Steps<OwnershipState['kind']> = {
  new: ['renewing', 'stopped'],
  renewing: ['renewing', 'leaving'],
  leaving: ['stopped'],
  stopped: [],
};

/**
 * Which partitions this node owns. One round renews its leases; another claims and levels (levelling.ts), so that whatever holds
 * a claim up delays no renewal.
 *
 *     free ─ claim, recover ─▶ owned ─ renew ─▶ owned
 *      ▲                         ├─ its thread is back, or asks for it: retake, recover ─▶ owned under the next epoch
 *      │                         ├─ give up (levelling, drain, no thread): disown, wait, release ─▶ free
 *      │                         └─ its row has another owner or epoch: lost
 *      └── the row names this node, which does not know of it (an answer was lost): claimed like a free one, or released
 *
 * The node's share: new ─ start ─▶ renewing (claims and levels) ─ leave ─▶ leaving (renews only) ─ handed over, or the time for it
 * is over ─▶ stopped.
 * Invariants: I1 what `own` and `renewed` get was recovered under its epoch in the transaction that took it; I2 a partition
 * that a renewal did not find is `lost` before it can be claimed again; I3 each partition is taken, released and lost apart from the
 * others; I4 what belongs to one holding of a partition ends with it: a hand-over never touches the partition that was taken again.
 */
export class Ownership {
  readonly #options: OwnershipOptions;
  readonly #takings: PartitionClaims;
  readonly #held: OwnedLeases;
  /** Partitions whose release is being stored: their rows may still name this node. */
  readonly #releasing = new Set<number>();
  /** When nodes that were lost were last forgotten, on the monotonic clock. */
  #forgotAt = performance.now();
  #failing = false;
  #left: Promise<void> | undefined;
  /** The round with which the node begins. */
  #first: Promise<void> = Promise.resolve();
  #state: OwnershipState = { kind: 'new' };

  constructor(options: OwnershipOptions) {
    this.#options = options;
    this.#takings = new PartitionClaims(options.db, options.nodeId);
    this.#held = new OwnedLeases(options.lease);
  }

  get partitions(): number[] {
    return this.#held.ids;
  }

  /** True while the leases were renewed in time. */
  get current(): boolean {
    return this.#held.current;
  }

  owns(partition: number): boolean {
    return this.#held.get(partition) !== undefined;
  }

  /** Registers the node and claims its share, through a passing outage. Rejects when the database goes on not to answer. */
  async start(): Promise<void> {
    const { log } = this.#options;
    if (this.#left) return; // the node was stopped, or failed
    const left = () => this.#left !== undefined;
    await throughOutages(() => this.#renew(), left);
    if (this.#left) return;
    const renewals = regularly(
      { interval_ms: LIMITS.renew_ms, waits: retryWaits(), failed: (error) => this.#renewalFailed(error) },
      () => this.#renew(),
    );
    this.#enter({ kind: 'renewing', renewals, levelling: undefined });
    const level = () => this.#level();
    try {
      this.#first = throughOutages(level, left);
      await this.#first;
    } catch (error) {
      await renewals.stop();
      throw error;
    }
    if (this.#state.kind !== 'renewing') return;
    const failed = (error: unknown) =>
      log.error({ err: error }, 'ownership: partitions could not be claimed or levelled, trying again');
    const levelling = regularly({ interval_ms: LIMITS.renew_ms, waits: retryWaits(), failed }, level);
    this.#enter({ kind: 'renewing', renewals, levelling });
  }

  /** The thread that ran these is back, with nothing in hand: takes them again, each until it is this node's or lost. */
  async restart(partitions: number[]): Promise<void> {
    const held = partitions.map((id) => this.#held.get(id)).filter((holding) => holding !== undefined);
    await Promise.all(held.map((holding) => this.#retake(holding, this.#options.own)));
  }

  /**
   * The thread that runs this partition under this epoch asks for it to be taken again. An older epoch asks for nothing: the
   * partition was taken again meanwhile.
   */
  async reconcile({ id, epoch }: OwnedPartition, inHand: string[]): Promise<void> {
    const holding = this.#held.get(id);
    if (holding?.epoch === epoch) await this.#retake(holding, this.#options.renewed, inHand);
  }

  /**
   * Claims nothing more, releases each partition as soon as nothing of it runs, and takes the node out; leases are renewed until
   * then. Takes LIMITS.drain_ms and LIMITS.leave_ms at most, whatever the database does; never rejects.
   */
  leave(): Promise<void> {
    this.#left ??= this.#leave();
    return this.#left;
  }

  async #leave(): Promise<void> {
    const state = this.#state;
    if (state.kind === 'renewing') {
      this.#enter({ kind: 'leaving' });
      const handedOver = this.#handOver(state.levelling);
      await Deadline.within(LIMITS.drain_ms + LIMITS.leave_ms, handedOver).catch((error) => {
        this.#options.log.warn(
          { err: error },
          'partitions were not handed over: others take them when their leases end',
        );
      });
      void state.renewals.stop();
    }
    this.#enter({ kind: 'stopped' });
  }

  async #handOver(levelling: Background | undefined): Promise<void> {
    const { db, nodeId } = this.#options;
    const uncounted = forgetNode(db, nodeId); // what is released belongs to the others' shares from now on
    await Promise.allSettled([
      uncounted,
      this.#first,
      levelling?.stop(),
      ...this.#held.all.map((holding) => this.#release(holding)),
    ]);
    await Promise.all(this.#held.all.map((holding) => this.#release(holding))); // claimed by the last round
    await forgetNode(db, nodeId);
  }

  #enter(state: OwnershipState): void {
    checkStep('the ownership of partitions', STEPS, this.#state.kind, state.kind);
    this.#state = state;
  }

  async #renew(): Promise<void> {
    const { db, nodeId, log, runnable } = this.#options;
    const whole = Array.from({ length: PARTITIONS }, (_, id) => id).every(runnable);
    const lost = await this.#held.renew(db, nodeId, whole && this.#state.kind !== 'leaving');
    if (this.#failing) log.info('ownership: leases are renewed again');
    this.#failing = false;
    this.#lose(lost); // I2
  }

  async #level(): Promise<void> {
    await levelPartitions({
      ...this.#options,
      held: this.#held,
      releasing: this.#releasing,
      claim: (ids) => this.#claim(ids),
      release: (holding) => this.#release(holding),
      over: () => this.#state.kind !== 'renewing',
    });
    if (performance.now() - this.#forgotAt < STORED_LIMITS.forget_ms) return;
    await forgetNode(this.#options.db, null);
    this.#forgotAt = performance.now();
  }

  /** Gives how many of these it got: another node may have been sooner. */
  async #claim(ids: number[]): Promise<number> {
    const { partitions, ended } = await this.#takings.claim(ids);
    this.#options.ended(ended);
    for (const partition of partitions) this.#held.add(partition);
    if (partitions.length > 0) this.#options.own(partitions); // I1
    return partitions.length;
  }

  #renewalFailed(error: unknown): void {
    if (isUnanswered(error)) return; // an outage has lines of its own
    if (!this.#failing) this.#options.log.error({ err: error }, 'ownership: leases cannot be renewed, trying again');
    this.#failing = true;
  }

  #lose(partitions: number[]): void {
    if (partitions.length === 0) return;
    for (const id of partitions) this.#held.delete(id);
    this.#options.log.warn({ partitions }, 'ownership: partitions lost');
    this.#options.lost(partitions);
  }

  /** Takes a partition again, after those calls that came before; gives up when it is no longer held. */
  #retake(holding: Holding, taken: (partitions: OwnedPartition[]) => void, inHand?: string[]): Promise<void> {
    const { log } = this.#options;
    const { id } = holding;
    const failed = (error: unknown) =>
      log.warn({ err: error, partition: id }, 'ownership: a partition could not be taken again, trying again');
    const again = async () => {
      if (!this.#held.has(holding)) return;
      const { partitions, ended } = await this.#takings.retake(id, inHand);
      const [partition] = partitions;
      this.#options.ended(ended);
      if (partition) this.#held.update(holding, partition);
      if (!this.#held.has(holding)) return; // I4
      if (partition)
        taken([partition]); // I1
      else this.#lose([id]);
    };
    holding.retakings++;
    holding.retaken = holding.retaken.then(() => retrying(again, failed)).finally(() => holding.retakings--);
    return holding.retaken;
  }

  /** Gives a partition up. Never rejects: a release that was not stored is found by the next levelling, or the lease runs out. */
  #release(holding: Holding): Promise<void> {
    holding.release ??= this.#releaseOnce(holding);
    return holding.release;
  }

  async #releaseOnce(holding: Holding): Promise<void> {
    const { db, nodeId, log, giveUp, lost } = this.#options;
    const { id } = holding;
    await giveUp(id);
    if (!this.#held.has(holding)) return; // I4
    this.#held.delete(id);
    this.#releasing.add(id);
    lost([id]);
    try {
      await holding.retaken; // its epoch may have moved
      await releasePartitions(db, nodeId, [{ id, epoch: holding.epoch }]);
    } catch (error) {
      log.warn({ err: error, partition: id }, 'ownership: a partition could not be released, trying again');
    } finally {
      this.#releasing.delete(id);
    }
  }
}
