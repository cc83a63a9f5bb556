import type { RecordedEvent } from '../../storage/deliveries/events-record.js';
import type { DeliveryConsumer } from '../deliveries/delivery-consumer.js';
import type { HostStats } from '../messages.js';
import type { ConnectionActor } from '../operations/connection-actor.js';
import type { Partition } from '../operations/partition/partition.js';
import type { HostReports } from './host-reports.js';

/** One partition of a thread: its operations and its deliveries. */
export interface Owned {
  partition: Partition;
  deliveries: DeliveryConsumer;
}

/** What the thread holds of its partitions now. */
type HeldStats = Pick<
  HostStats,
  'connections' | 'queued' | 'running' | 'waiting_user' | 'full_mailboxes' | 'oldest_queued_s' | 'backlogs'
>;

/**
 * The partitions that a thread owns now; `PartitionOwner` puts them in and takes them out.
 *
 * Invariants: I1 a partition stands here under one epoch at a time.
 */
export class OwnedPartitions {
  readonly #owned = new Map<number, Owned>(); // I1
  readonly #reports: HostReports;
  readonly #reportedBacklog: number;

  /** `reportedBacklog`: operations of one workspace from which on they are reported. */
  constructor(reports: HostReports, reportedBacklog: number) {
    this.#reports = reports;
    this.#reportedBacklog = reportedBacklog;
  }

  get ids(): number[] {
    return [...this.#owned.keys()];
  }

  get(id: number): Owned | undefined {
    return this.#owned.get(id);
  }

  partition(id: number): Partition | undefined {
    return this.#owned.get(id)?.partition;
  }

  set(owned: Owned): void {
    this.#owned.set(owned.partition.id, owned);
  }

  delete(id: number): void {
    this.#owned.delete(id);
  }

  /** New events are committed: wakes the deliveries of their partitions, here or by a hint elsewhere. */
  recorded(events: RecordedEvent[]): void {
    const woken = new Set<number>();
    for (const { partition, deliveries, connection_id: connectionId } of events) {
      if (deliveries === 0 || woken.has(partition)) continue;
      woken.add(partition);
      const owned = this.#owned.get(partition);
      if (owned) void owned.deliveries.wake();
      else this.#reports.forward({ type: 'deliveries', connectionId });
    }
  }

  /** The actors whose operation runs or waits for its user, by the operation's id. */
  attempting(): Map<string, ConnectionActor> {
    const attempting = new Map<string, ConnectionActor>();
    for (const { partition } of this.#owned.values()) {
      for (const actor of partition.actors()) {
        const id = actor.attempting;
        if (id) attempting.set(id, actor);
      }
    }
    return attempting;
  }

  partitions(): Partition[] {
    return [...this.#owned.values()].map(({ partition }) => partition);
  }

  stats(): HeldStats {
    const workspaces = new Map<string, number>();
    const full: HostStats['backlogs'] = [];
    const stats = { connections: 0, queued: 0, running: 0, waiting_user: 0, full_mailboxes: 0, oldest_queued_s: 0 };
    let since_ms = Number.POSITIVE_INFINITY;
    for (const { partition } of this.#owned.values()) {
      stats.connections += partition.size;
      stats.queued += partition.waiting;
      stats.running += partition.running;
      for (const actor of partition.actors()) {
        const { connectionId, workspaceId, waiting, running } = actor;
        if (workspaceId) workspaces.set(workspaceId, (workspaces.get(workspaceId) ?? 0) + waiting + Number(running));
        stats.waiting_user += Number(actor.waitsForUser);
        since_ms = Math.min(since_ms, actor.waitingSince_ms ?? since_ms);
        if (partition.full(connectionId)) full.push([connectionId, waiting]);
      }
    }
    const large = [...workspaces].filter(([, operations]) => operations >= this.#reportedBacklog);
    const oldest_queued_s = Math.max(0, (Date.now() - since_ms) / 1000);
    return { ...stats, full_mailboxes: full.length, oldest_queued_s, backlogs: [...large, ...full] };
  }
}
