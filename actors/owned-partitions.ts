import type { PgBoss } from 'pg-boss';
import type { RecordedEvent } from '../storage/deliveries/events-record.js';
import { partitionOf } from '../storage/model/records.js';
import { cancelsRequested } from '../storage/operations/owner-polls.js';
import type { Database } from '../storage/postgres/database.js';
import { dueQueues } from '../storage/postgres/job-table.js';
import type { Deliveries } from './deliveries/deliveries.js';
import type { DeliveryConsumer } from './deliveries/delivery-consumer.js';
import type { Listeners } from './listeners/listeners.js';
import type { HostStats } from './messages.js';
import type { ActorContext } from './operations/connection-actor.js';
import { Partition } from './operations/partition.js';
import type { BrowserLink } from './social/browser-link.js';
import type { Hint } from './system.js';

/**
 * What a thread owns: its partitions, each with its operations, deliveries and listeners.
 *
 *     (told own) ──▶ owned ──disown──▶ ending ──nothing runs──▶ released
 *                      └──disown, fenced──▶ released at once, and nothing of it is stored any more
 *
 * Invariants: H1 a partition stands here under one epoch at a time, the last one told; H2 work of a partition
 * that is not here is never begun here.
 */
export interface OwnedContext {
  db: Database;
  boss: PgBoss;
  deliveries: Deliveries;
  listeners: Listeners;
  link: (partition: number) => BrowserLink;
  actor: Omit<ActorContext, 'load' | 'idle'>;
  /** Tells the owner of a partition that is not here. */
  forward(signal: Hint): void;
}

interface Owned {
  partition: Partition;
  deliveries: DeliveryConsumer;
}

export class OwnedPartitions {
  readonly #owned = new Map<number, Owned>();

  constructor(private readonly context: OwnedContext) {}

  get ids(): number[] {
    return [...this.#owned.keys()];
  }

  partition(id: number): Partition | undefined {
    return this.#owned.get(id)?.partition;
  }

  own(id: number, epoch: number): void {
    if (this.partition(id)?.epoch === epoch) return;
    void this.release(id, true);
    const { db, boss, actor, deliveries, listeners } = this.context;
    const owned = { partition: new Partition(id, epoch, db, boss, actor), deliveries: deliveries.own(id, epoch) };
    this.#owned.set(id, owned);
    void owned.partition.fetch();
    void owned.deliveries.wake();
    void listeners.own(id, epoch);
  }

  /** Lets a partition go: at once when it is fenced, else when what runs in it has ended. */
  async release(id: number, fenced: boolean): Promise<void> {
    const owned = this.#owned.get(id);
    if (!owned) return;
    const { deliveries, listeners } = this.context;
    if (fenced) {
      this.#owned.delete(id);
      owned.partition.drop();
    }
    void listeners.disown(id);
    if (!fenced) await Promise.all([owned.partition.stop(), deliveries.settle(id)]);
    if (!fenced && this.#owned.get(id) !== owned) return; // fenced meanwhile, or owned anew
    deliveries.disown(id);
    this.#owned.delete(id);
  }

  signal(signal: Hint): void {
    const { connectionId } = signal;
    const id = partitionOf(connectionId);
    const owned = this.#owned.get(id);
    if (!owned) return;
    switch (signal.type) {
      case 'cancel':
        owned.partition.actor(connectionId)?.cancel(signal.operationId);
        return;
      case 'code':
        owned.partition.actor(connectionId)?.code(signal.operationId, signal.challengeId, signal.code);
        return;
      case 'connection':
        this.context.link(id).send({ type: 'close', connectionId });
        void this.context.listeners.look(connectionId);
        return;
      case 'operations':
        owned.partition.queueGrew();
        return;
      case 'deliveries':
        void owned.deliveries.wake();
    }
  }

  /** New events are committed: wake the deliveries of their partitions, here or elsewhere. */
  recorded(events: RecordedEvent[]): void {
    const woken = new Set<number>();
    for (const { partition, deliveries, connection_id: connectionId } of events) {
      if (deliveries === 0 || woken.has(partition)) continue;
      woken.add(partition);
      const owned = this.#owned.get(partition);
      if (owned) void owned.deliveries.wake();
      else this.context.forward({ type: 'deliveries', connectionId });
    }
  }

  /** The slow poll behind every signal that was lost: jobs that are due, cancels of what waits for its user. */
  async poll(): Promise<void> {
    const { db } = this.context;
    for (const { queue, partition } of await dueQueues(db, this.ids)) {
      const owned = this.#owned.get(partition);
      if (queue === 'operation') void owned?.partition.fetch();
      else void owned?.deliveries.wake();
    }
    const waiting = new Map<string, () => void>();
    for (const { partition } of this.#owned.values()) {
      for (const actor of partition.actors()) {
        const id = actor.waitingForUser;
        if (id) waiting.set(id, () => actor.cancel(id));
      }
    }
    if (waiting.size === 0) return;
    for (const id of await cancelsRequested(db, [...waiting.keys()])) waiting.get(id)?.();
  }

  stats(): Pick<HostStats, 'connections' | 'queued' | 'running'> {
    const stats = { connections: 0, queued: 0, running: 0 };
    for (const { partition } of this.#owned.values()) {
      stats.connections += partition.size;
      stats.queued += partition.waiting;
      stats.running += partition.running;
    }
    return stats;
  }
}
