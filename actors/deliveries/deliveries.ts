import { fetchSubscriptions } from '../../storage/deliveries/delivery-queue.js';
import { oldestPending } from '../../storage/deliveries/oldest-pending.js';
import type { Logger } from '../../storage/log/log.js';
import type { Tally } from '../../storage/overview/tally.js';
import type { Database } from '../../storage/postgres/database.js';
import type { KeyRing } from '../../storage/secrets/encryption.js';
import type { Tracing } from '../../storage/tracing/tracing.js';
import type { LeaseCell } from '../lease.js';
import type { Endpoint } from './callback/address-policy.js';
import type { DeliveryStats } from './callback/counters.js';
import { callbackResolver } from './callback/host-resolver.js';
import { DeliveryConsumer, type DeliveryConsumerOptions } from './delivery-consumer.js';
import { DeliverySweep, type Repairs } from './delivery-sweep.js';
import { Dispatcher } from './dispatcher.js';
import { LIMITS } from './limits.js';
import { WakeTimers } from './wake-timers.js';

export interface DeliverySettings {
  /** Attempts in flight in this thread at most. */
  concurrency: number;
  /** Of these, and of the subscriptions in memory, what one workspace may have at most, in percent. */
  workspacePercent: number;
  allowedNetworks: string[];
  allowedEndpoints?: readonly Endpoint[];
  /** Of public addresses; 443 and 8443 by default. */
  ports?: readonly number[];
  /** PEM of a CA that is trusted beside the public ones. */
  ca: string | undefined;
  /** The only name servers that are asked for the hosts of callbacks. Null: the machine's resolver. */
  dnsServers: string[] | null;
}

export interface DeliveryContext {
  db: Database;
  /** The same database, with commits that need not be on the disk when they return. */
  relaxed: Database;
  ring: KeyRing;
  lease: LeaseCell;
  log: Logger;
  /** Absent: no spans are made. */
  tracing?: Tracing | undefined;
  /** Counts what happens in workspaces; absent: nothing is counted. */
  tally?: Tally;
}

export interface Deliveries {
  /** The partition is this thread's under this epoch. Wake the consumer that is returned when something of it may be due. */
  own(partition: number, epoch: number): DeliveryConsumer;
  /** This thread, which has it, took the partition again under this epoch: its subscriptions go on, attempts in flight end as they began. */
  renew(partition: number, epoch: number): void;
  /** Starts nothing more of this partition; resolves when its attempts have ended. */
  quiesce(partition: number): Promise<void>;
  /** The partition is no longer this thread's: what is still being sent writes nothing. */
  disown(partition: number): void;
  /** Reads how long the oldest delivery waits, for `stats`. Rejects when the database does not answer. */
  measure(): Promise<void>;
  stats(): ThreadDeliveryStats;
  /** Starts nothing more, resolves when every attempt is over and written. */
  close(): Promise<void>;
}

export interface ThreadDeliveryStats extends DeliveryStats {
  /** Age in seconds of the oldest delivery of this thread's partitions that has not ended, when last measured; 0 without one. */
  oldest_pending_s: number;
  /** What was put right that nobody was working on. */
  repairs: Repairs;
}

/** The deliveries of one thread: a consumer for each partition, one dispatcher behind them all. */
export function openDeliveries(settings: DeliverySettings, context: DeliveryContext): Deliveries {
  const { db, lease, log } = context;
  const consumers = new Map<number, DeliveryConsumer>();
  const wakeTimers = new WakeTimers((partition) => void consumers.get(partition)?.wake());
  let oldest_pending_s = 0;
  const dispatcher = openDispatcher(settings, context, wakeTimers);
  const sweep = new DeliverySweep({
    db,
    log,
    partitions: () =>
      [...consumers]
        .filter(([id, { stopped }]) => !stopped && lease.valid(id))
        .map(([id, { epoch }]) => ({ id, epoch })),
    inHand: dispatcher,
    repaired: (partition) => void consumers.get(partition)?.wake(),
  });
  const sweeping = setInterval(() => void sweep.turn(), LIMITS.sweep_ms);
  return {
    own(partition, epoch) {
      const fetch: DeliveryConsumerOptions['fetch'] = (...asked) => fetchSubscriptions(db, ...asked);
      const consumer = new DeliveryConsumer({ partition: { id: partition, epoch }, dispatcher, fetch, lease, log });
      consumers.set(partition, consumer);
      return consumer;
    },
    renew(partition, epoch) {
      const consumer = consumers.get(partition);
      if (!consumer || consumer.epoch >= epoch) return;
      consumer.renew(epoch);
      dispatcher.renew(partition, epoch);
      void consumer.wake();
    },
    quiesce(partition) {
      consumers.get(partition)?.stop();
      return dispatcher.quiesce(partition);
    },
    disown(partition) {
      consumers.get(partition)?.stop();
      consumers.delete(partition);
      wakeTimers.forget(partition);
      dispatcher.drop(partition);
    },
    async measure() {
      oldest_pending_s = await oldestPending(db, [...consumers.keys()]);
    },
    stats: () => ({
      ...dispatcher.stats(),
      oldest_pending_s: consumers.size === 0 ? 0 : oldest_pending_s,
      repairs: { ...sweep.repairs },
    }),
    async close() {
      clearInterval(sweeping);
      wakeTimers.close();
      await dispatcher.drain();
      await sweep.settled();
    },
  };
}

function openDispatcher(settings: DeliverySettings, context: DeliveryContext, wakeTimers: WakeTimers): Dispatcher {
  const { db, relaxed, ring, lease, log, tracing, tally } = context;
  const { allowedNetworks, allowedEndpoints, ports, dnsServers, ca, concurrency, workspacePercent } = settings;
  return new Dispatcher({
    db,
    relaxed,
    lease,
    ring,
    policy: { allowedNetworks, allowedEndpoints, ports, resolve: callbackResolver(dnsServers) },
    ca,
    concurrency,
    workspace_share: workspacePercent / 100,
    log,
    tracing,
    ...(tally && { tally }),
    wakeIn: (partition, due_in_ms) => wakeTimers.in(partition, due_in_ms),
  });
}
