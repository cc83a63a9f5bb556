import type { Site } from '../../browser-pool/social/site/site.js';
import type { Logger, LogOptions } from '../../storage/log/log.js';
import { LogLines } from '../../storage/log/log-lines.js';
import { partitionOf } from '../../storage/model/records.js';
import type { Vault } from '../../storage/model/vault.js';
import { Tally } from '../../storage/overview/tally.js';
import { type Database, openDatabase } from '../../storage/postgres/database.js';
import { TIME_LIMITS } from '../../storage/postgres/time-limits.js';
import { FairSlots } from '../../storage/process/fair-slots.js';
import { DataVault } from '../../storage/secrets/data-vault.js';
import { type EncryptionKey, fingerprinter, keyRing } from '../../storage/secrets/encryption.js';
import { operationEnds } from '../../storage/tracing/ended-operations.js';
import type { Tracing, TracingSettings } from '../../storage/tracing/tracing.js';
import { type Deliveries, type DeliverySettings, openDeliveries } from '../deliveries/deliveries.js';
import { LeaseCell } from '../lease.js';
import { LIMITS } from '../limits.js';
import { Listeners } from '../listeners/listeners.js';
import { OperationBatches } from '../operations/attempt/operation-batches.js';
import { MailboxReader } from '../operations/mailbox-reader.js';
import { OperationCounters } from '../operations/operation-counters.js';
import { LOOKING_PARTITION, Orphans } from '../operations/orphans.js';
import { Committer } from '../operations/partition/committer.js';
import { LookQueue } from '../operations/partition/look-queue.js';
import { MailboxCloser } from '../operations/partition/mailbox-closer.js';
import type { PartitionContext } from '../operations/partition/partition.js';
import { PendingStores } from '../operations/partition/pending-stores.js';
import { Sweep } from '../operations/partition/sweep.js';
import { createSimulatedProvider } from '../providers/simulated.js';
import { ProxyHealth } from '../proxy-health.js';
import { SessionSaves } from '../session-saves.js';
import { BrowserLink } from '../social/browser-link.js';
import { createSocialRuntime } from '../social/runtime.js';
import type { HostReports } from './host-reports.js';
import { Measurements } from './measurements.js';
import { OwnedPartitions } from './owned-partitions.js';
import { PartitionOwner } from './partition-owner.js';

/** What an actor thread is started with; plain data. */
export interface HostOptions {
  index: number;
  nodeId: string;
  databaseUrl: string;
  databaseConnections: number;
  encryptionKeys: EncryptionKey[];
  fingerprintSecret: Uint8Array | null;
  /** Whether data is sealed, shared by all threads (`DataVault`). */
  lease: SharedArrayBuffer;
  /** Operations of one workspace from which on the thread reports how many it has in hand. */
  reportedBacklog: number;
  /** Bytes that the operations of a workspace without a limit of its own may take; null: any. */
  storedBound: number | null;
  log: LogOptions;
  /** Null: no spans are made. */
  tracing: TracingSettings | null;
  browserThreads: number;
  deliveries: DeliverySettings;
  site: Site;
}

/** The parts of one actor thread, each made after those it uses. */
export interface HostParts {
  log: Logger;
  tracing: Tracing | undefined;
  db: Database;
  /** The same database, with commits that need not be on the disk when they answer. */
  relaxed: Database;
  lease: LeaseCell;
  links: BrowserLink[];
  saves: SessionSaves;
  counters: OperationCounters;
  /** What happens in workspaces. */
  tally: Tally;
  /** Gaps of streams that were opened, by reason. */
  gaps: Record<string, number>;
  measurements: Measurements;
  deliveries: Deliveries;
  listeners: Listeners;
  owned: OwnedPartitions;
  owner: PartitionOwner;
  committer: Committer;
}

/** The thread, as log lines and boundaries name it. */
export function threadName({ index }: HostOptions): string {
  return `actors-${index}`;
}

export function openHostParts(
  options: HostOptions,
  reports: HostReports,
  { log, tracing }: Pick<HostParts, 'log' | 'tracing'>,
): HostParts {
  const worker = { node_id: options.nodeId, thread: threadName(options) };
  const ring = keyRing(options.encryptionKeys.map(({ id, key }) => ({ id, key: Buffer.from(key) })));
  const secret = options.fingerprintSecret && Buffer.from(options.fingerprintSecret);
  const vault = new DataVault(ring);
  vault.hashUnder(secret);
  const { db, relaxed } = openStorage(options, vault, log, reports);
  const lease = new LeaseCell(options.lease);
  const owned = new OwnedPartitions(reports, options.reportedBacklog);
  const saves = new SessionSaves({
    ...{ db, ring, log },
    epoch: (connectionId) => owned.partition(partitionOf(connectionId))?.epoch,
  });
  const proxies = new ProxyHealth(db, log);
  const renewed = saves.save.bind(saves);
  const links = Array.from({ length: options.browserThreads }, () => new BrowserLink({ renewed }));
  const link = (partition: number) => links[partition % links.length] as BrowserLink;
  const counters = new OperationCounters();
  const tally = new Tally();
  const ends = operationEnds(new LogLines(log, options.log.sample), tracing);
  const flushed = counters.flushed.bind(counters);
  const gaps: Record<string, number> = {};
  const recorded = owned.recorded.bind(owned);
  const deliveries = openDeliveries(options.deliveries, { db, relaxed, ring, lease, log, tracing, tally });
  const listeners = new Listeners(options.site, {
    ...{ db, ring, log, recorded, saves, proxies, tally },
    gapOpened: (reason) => {
      gaps[reason] = (gaps[reason] ?? 0) + 1;
    },
    moved: (connectionId) => link(partitionOf(connectionId)).send({ type: 'retire', connectionId }),
  });
  const desk = new LookQueue({ db, log, partitions: () => owned.partitions() });
  const pendingStores = new PendingStores();
  const partition: PartitionContext = {
    ...{ db, ring, lease, log, counters, tally, tracing, pendingStores, storedBound: options.storedBound },
    ended: (operation) => {
      tally.ended(operation);
      ends(operation);
    },
    largeAttempts: new FairSlots(LIMITS.large_attempts, { each: LIMITS.workspace_large_attempts }),
    reader: new MailboxReader(db, flushed),
    batches: new OperationBatches(db, relaxed, worker, recorded, flushed),
    providers: {
      simulated: createSimulatedProvider({ db, clock: Date.now }),
      social: createSocialRuntime({ db, ring, saves, proxies, link }),
    },
    awaitable: (operationId) => reports.awaitable(operationId),
    changed: (connectionId) => void listeners.look(connectionId),
    looked: () => void desk.fetch(),
    reconcile: (partition, inHand) => {
      counters.reconciled++;
      reports.reconcile(partition, inHand);
    },
  };
  const partitions = () => owned.partitions();
  const looks = () => owned.partition(LOOKING_PARTITION) !== undefined;
  const orphans = new Orphans({ db, log, counters, looks });
  const sweep = new Sweep({ db, log, counters, orphans, partitions });
  const closer = new MailboxCloser({ db, log, partitions });
  const owner = new PartitionOwner({
    owned,
    deliveries,
    listeners,
    link,
    partition,
    closer,
    sweep,
    orphans,
    looks: desk,
  });
  const committer = new Committer({
    ...{ db, ring, pendingStores },
    fingerprint: secret && fingerprinter(secret),
    flushed: (items) => flushed('submit', items),
    partition: (id) => owned.partition(id),
    hint: (hint) => reports.forward(hint),
  });
  const measurements = new Measurements(db, owned);
  return {
    ...{ log, tracing, db, relaxed, lease, links, saves, counters, tally, gaps, measurements },
    ...{ deliveries, listeners, owned, owner, committer },
  };
}

/** The thread's connections to the database. */
function openStorage(
  options: HostOptions,
  vault: Vault,
  log: Logger,
  { outage }: HostReports,
): Pick<HostParts, 'db' | 'relaxed'> {
  const onError = (error: Error) => log.warn({ err: error }, 'database: a connection was lost');
  const pool = {
    url: options.databaseUrl,
    vault,
    limits: TIME_LIMITS.thread,
    applicationName: `connection-service actors-${options.index}`,
    indexedPlans: true,
    onError,
  };
  const db = openDatabase({ ...pool, outage, maxConnections: options.databaseConnections });
  const relaxed = openDatabase({ ...pool, maxConnections: LIMITS.relaxed_connections, relaxedCommits: true });
  return { db, relaxed };
}
