import { partitionOf } from '../../storage/model/records.js';
import { cancelsRequested } from '../../storage/operations/owner-polls.js';
import type { OwnedPartition } from '../../storage/partitions/partitions.js';
import type { Deliveries } from '../deliveries/deliveries.js';
import type { Listeners } from '../listeners/listeners.js';
import type { Orphans } from '../operations/orphans.js';
import type { LookQueue } from '../operations/partition/look-queue.js';
import type { MailboxCloser } from '../operations/partition/mailbox-closer.js';
import { Partition, type PartitionContext } from '../operations/partition/partition.js';
import type { Sweep } from '../operations/partition/sweep.js';
import type { BrowserLink } from '../social/browser-link.js';
import type { Hint } from '../system.js';
import { type DueQueue, DueQueues } from './due-queues.js';
import type { OwnedPartitions } from './owned-partitions.js';

export interface PartitionOwnerOptions {
  owned: OwnedPartitions;
  deliveries: Deliveries;
  listeners: Listeners;
  link: (partition: number) => BrowserLink;
  partition: PartitionContext;
  closer: MailboxCloser;
  sweep: Sweep;
  orphans: Orphans;
  looks: LookQueue;
}

/**
 * Takes and gives up the partitions of a thread, each with its operations, deliveries and listeners, and passes hints to them.
 *
 *     absent ─ own ─▶ owned ─ release ─▶ stopping ─ nothing runs ─▶ absent
 *                       └──────┴─ fence, or own under the next epoch ─▶ absent at once, and nothing of it is stored any more
 *
 * Invariants: I1 a partition is owned under one epoch at a time, the last one received; I2 work of a partition that is not
 * owned is never begun.
 */
export class PartitionOwner {
  readonly #options: PartitionOwnerOptions;
  readonly #dueQueues: DueQueues;

  constructor(options: PartitionOwnerOptions) {
    this.#options = options;
    this.#dueQueues = new DueQueues(options.partition.db);
  }

  /** Takes partitions. One statement tells which of their queues hold a job that is due: most of them hold none. */
  own(taken: readonly OwnedPartition[]): void {
    const { owned, deliveries, listeners, partition } = this.#options;
    const others = taken.filter(({ id, epoch }) => owned.partition(id)?.epoch !== epoch);
    for (const { id, epoch } of others) {
      this.fence(id); // I1
      owned.set({ partition: new Partition({ id, epoch }, partition), deliveries: deliveries.own(id, epoch) });
    }
    void this.#begin(others.map(({ id }) => id));
    void listeners.own(others);
  }

  async #begin(ids: number[]): Promise<void> {
    try {
      this.#wake(await this.#dueQueues.lookNow(ids));
    } catch (error) {
      const { log } = this.#options.partition;
      log.error({ err: error, partitions: ids }, 'due jobs: looking for them failed, the slow poll tries again');
    }
  }

  #wake(dueQueues: readonly DueQueue[]): void {
    for (const due of dueQueues) {
      const one = this.#options.owned.get(due.partition);
      if (due.queue === 'delivery') void one?.deliveries.wake();
      else void one?.partition.fetch();
    }
  }

  /** Lets a partition go as soon as what runs in it has ended. */
  async release(id: number): Promise<void> {
    const { owned, deliveries, listeners } = this.#options;
    const one = owned.get(id);
    if (!one) return;
    void listeners.disown(id);
    await Promise.all([one.partition.quiesce(), deliveries.quiesce(id)]);
    if (owned.get(id) !== one) return; // I1: fenced meanwhile, or owned under the next epoch
    deliveries.disown(id);
    owned.delete(id);
  }

  async releaseAll(): Promise<void> {
    await Promise.all(this.#options.owned.ids.map((id) => this.release(id)));
  }

  /** The partition is lost: lets it go at once. */
  fence(id: number): void {
    const { owned, deliveries, listeners } = this.#options;
    const one = owned.get(id);
    if (!one) return;
    owned.delete(id);
    one.partition.drop();
    void listeners.disown(id);
    deliveries.disown(id);
  }

  /** The partition was taken again under this epoch: what is in hand goes on. */
  renewed({ id, epoch }: OwnedPartition): void {
    const { owned, deliveries, listeners } = this.#options;
    owned.partition(id)?.renewed(epoch);
    deliveries.renew(id, epoch);
    listeners.renew(id, epoch);
  }

  hint(hint: Hint): void {
    const { owned, listeners, link } = this.#options;
    const { connectionId } = hint;
    const id = partitionOf(connectionId);
    const one = owned.get(id);
    if (!one) return; // I2
    switch (hint.type) {
      case 'cancel':
        one.partition.actor(connectionId)?.cancel(hint.operationId);
        return;
      case 'code':
        one.partition.actor(connectionId)?.code(hint.operationId, hint);
        return;
      case 'connection':
        link(id).send({ type: 'close', connectionId });
        void listeners.look(connectionId);
        return;
      case 'unpinned':
        link(id).send({ type: 'retire', connectionId });
        void listeners.look(connectionId);
        return;
      case 'operations':
        void one.partition.fetch();
        return;
      case 'deliveries':
        void one.deliveries.wake();
        return;
      case 'look':
        void this.#options.looks.fetch();
        return;
      default:
        hint satisfies never;
    }
  }

  /** The slow poll behind every hint that was lost: jobs that are due, looks, cancels of what runs; and behind every lost answer. */
  async poll(): Promise<void> {
    const { owned, partition, sweep, orphans, looks } = this.#options;
    void looks.fetch();
    this.#wake(await this.#dueQueues.look(owned.ids));
    void this.#options.closer.close();
    const attempting = owned.attempting();
    if (attempting.size > 0) {
      for (const id of await cancelsRequested(partition.db, [...attempting.keys()])) attempting.get(id)?.cancel(id);
    }
    await sweep.look();
    await orphans.look();
  }
}
