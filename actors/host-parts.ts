import type { Site } from '../browser-pool/social/site/site.js';
import { createLogger, type Logger, type LogOptions } from '../storage/log.js';
import { outageLog } from '../storage/outage-log.js';
import { type Database, openDatabase } from '../storage/postgres/database.js';
import { TIME_LIMITS } from '../storage/postgres/time-limits.js';
import { type EncryptionKey, fingerprinter, keyRing } from '../storage/secrets/encryption.js';
import { type Deliveries, type DeliverySettings, openDeliveries } from './deliveries/deliveries.js';
import type { HostReports } from './host-reports.js';
import { LeaseCell } from './lease.js';
import { LIMITS } from './limits.js';
import { Listeners } from './listeners/listeners.js';
import { Committer } from './operations/committer.js';
import { OperationBatches } from './operations/operation-batches.js';
import type { PartitionContext } from './operations/partition.js';
import { Sweep } from './operations/sweep.js';
import { OwnedPartitions } from './owned-partitions.js';
import { PartitionOwner } from './partition-owner.js';
import { createSimulatedProvider } from './providers/simulated.js';
import { BrowserLink } from './social/browser-link.js';
import { createSocialRuntime } from './social/runtime.js';

/** What an actor thread is started with; plain data. */
export interface HostOptions {
  index: number;
  databaseUrl: string;
  databaseConnections: number;
  encryptionKeys: EncryptionKey[];
  fingerprintSecret: Uint8Array | null;
  lease: SharedArrayBuffer;
  /** Operations of one workspace from which on the thread reports how many it has in hand. */
  reportedBacklog: number;
  log: LogOptions;
  browserThreads: number;
  deliveries: DeliverySettings;
  site: Site;
}

/** The parts of one actor thread, each made after those it uses. */
export interface HostParts {
  log: Logger;
  db: Database;
  /** The same database, with commits that need not be on the disk when they answer. */
  relaxed: Database;
  lease: LeaseCell;
  links: BrowserLink[];
  counters: { submitted: number; started: number; reconciled: number; finished: Record<string, number> };
  deliveries: Deliveries;
  listeners: Listeners;
  owned: OwnedPartitions;
  owner: PartitionOwner;
  committer: Committer;
}

export function openHostParts(options: HostOptions, reports: HostReports): HostParts {
  const log = createLogger(options.log, { thread: `actors-${options.index}` });
  const { db, relaxed } = openStorage(options, log);
  const lease = new LeaseCell(options.lease);
  const ring = keyRing(options.encryptionKeys.map(({ id, key }) => ({ id, key: Buffer.from(key) })));
  const links = Array.from({ length: options.browserThreads }, () => new BrowserLink());
  const link = (partition: number) => links[partition % links.length] as BrowserLink;
  const counters = { submitted: 0, started: 0, reconciled: 0, finished: {} };
  const owned = new OwnedPartitions(reports, options.reportedBacklog);
  const recorded = owned.recorded.bind(owned);
  const deliveries = openDeliveries(options.deliveries, { db, relaxed, ring, lease, log });
  const listeners = new Listeners(options.site, { db, ring, log, recorded });
  const partition: PartitionContext = {
    ...{ db, ring, lease, log, counters },
    batches: new OperationBatches(db, relaxed, recorded),
    providers: {
      simulated: createSimulatedProvider({ db, clock: Date.now }),
      social: createSocialRuntime({ db, ring, link }),
    },
    awaitable: (operationId) => reports.awaitable(operationId),
    changed: (connectionId) => void listeners.look(connectionId),
    reconcile: (partition, inHand) => {
      counters.reconciled++;
      reports.reconcile(partition, inHand);
    },
  };
  const sweep = new Sweep({ db, log, partitions: () => owned.partitions() });
  const owner = new PartitionOwner({ owned, deliveries, listeners, link, partition, sweep });
  const committer = new Committer({
    ...{ db, ring },
    fingerprint: options.fingerprintSecret && fingerprinter(Buffer.from(options.fingerprintSecret)),
    partition: (id) => owned.partition(id),
    hint: (hint) => reports.forward(hint),
  });
  return { log, db, relaxed, lease, links, counters, deliveries, listeners, owned, owner, committer };
}

/** The thread's connections to the database. */
function openStorage(options: HostOptions, log: Logger): Pick<HostParts, 'db' | 'relaxed'> {
  const onError = (error: Error) => log.warn({ err: error }, 'database connection lost');
  const pool = {
    url: options.databaseUrl,
    limits: TIME_LIMITS.thread,
    applicationName: `connection-service actors-${options.index}`,
    indexedPlans: true,
    onError,
  };
  const db = openDatabase({ ...pool, outage: outageLog(log), maxConnections: options.databaseConnections });
  const relaxed = openDatabase({ ...pool, maxConnections: LIMITS.relaxed_connections, relaxedCommits: true });
  return { db, relaxed };
}
