import type { PgBoss } from 'pg-boss';
import { oldestPending } from '../../storage/deliveries/oldest-pending.js';
import type { Logger } from '../../storage/log.js';
import type { Database } from '../../storage/postgres/database.js';
import type { KeyRing } from '../../storage/secrets/encryption.js';
import type { LeaseCell } from '../lease.js';
import type { DeliveryStats } from './counters.js';
import { DeliveryConsumer } from './delivery-consumer.js';
import { createDispatcher } from './dispatcher.js';
import { callbackResolver } from './host-resolver.js';
import { WakeTimers } from './wake-timers.js';

/** The deliveries of one thread: a feed a partition, one dispatcher behind them all. */
export interface DeliverySettings {
  /** Attempts in flight in this thread at most. */
  concurrency: number;
  allowedNetworks: string[];
  /** PEM of a CA trusted beside the public ones. */
  ca: string | undefined;
  /** Name servers that alone are asked for the hosts of callbacks. Null: the machine's resolver. */
  dnsServers: string[] | null;
}

export interface DeliveryContext {
  db: Database;
  /** The same database, with commits that need not be on the disk when they answer. */
  relaxed: Database;
  ring: KeyRing;
  boss: PgBoss;
  lease: LeaseCell;
  log: Logger;
}

export interface Deliveries {
  own(partition: number, epoch: number): DeliveryConsumer;
  /** Starts nothing more of this partition; resolves when its attempts have ended. */
  settle(partition: number): Promise<void>;
  disown(partition: number): void;
  /** Looks how long the oldest delivery waits, for `stats`. Rejects when the database does not answer. */
  measure(): Promise<void>;
  stats(): ThreadDeliveryStats;
  close(): Promise<void>;
}

export interface ThreadDeliveryStats extends DeliveryStats {
  /** Age in seconds of the oldest delivery of this thread's partitions that has not ended, when last measured; 0 without one. */
  oldest_pending_s: number;
}

export function openDeliveries(settings: DeliverySettings, context: DeliveryContext): Deliveries {
  const feeds = new Map<number, DeliveryConsumer>();
  const wakeUps = new WakeTimers((partition) => void feeds.get(partition)?.wake());
  let oldest_pending_s = 0;
  const dispatcher = createDispatcher({
    db: context.db,
    relaxed: context.relaxed,
    ring: context.ring,
    policy: { allowedNetworks: settings.allowedNetworks, resolve: callbackResolver(settings.dnsServers) },
    ca: settings.ca,
    concurrency: settings.concurrency,
    log: context.log,
    clock: { now: () => new Date() },
    wakeAt: (partition, at) => wakeUps.at(partition, at),
  });
  return {
    own(partition, epoch) {
      const feed = new DeliveryConsumer({ id: partition, epoch }, dispatcher, context.boss, context.lease, context.log);
      feeds.set(partition, feed);
      return feed;
    },
    settle(partition) {
      feeds.get(partition)?.stop();
      return dispatcher.settle(partition);
    },
    disown(partition) {
      feeds.get(partition)?.stop();
      feeds.delete(partition);
      wakeUps.forget(partition);
      dispatcher.drop(partition);
    },
    async measure() {
      oldest_pending_s = await oldestPending(context.db, [...feeds.keys()]);
    },
    stats: () => ({ ...dispatcher.stats(), oldest_pending_s: feeds.size === 0 ? 0 : oldest_pending_s }),
    async close() {
      wakeUps.close();
      await dispatcher.drain();
    },
  };
}
