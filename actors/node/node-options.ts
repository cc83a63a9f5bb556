import { availableParallelism } from 'node:os';
import type { BrowserHostOptions } from '../../browser-pool/host.js';
import type { Logger, LogOptions } from '../../storage/log/log.js';
import type { Outages } from '../../storage/log/outages.js';
import type { Tally } from '../../storage/overview/tally.js';
import type { Database } from '../../storage/postgres/database.js';
import type { EncryptionKey } from '../../storage/secrets/encryption.js';
import type { Tracing, TracingSettings } from '../../storage/tracing/tracing.js';
import type { LeaseCell } from '../lease.js';
import { LIMITS } from '../limits.js';
import type { SystemStatus } from '../system.js';
import type { HostOptions } from '../thread/host-parts.js';
import type { ThreadPools } from './thread-pools.js';

/** What a node is made of: plain settings, and the main thread's database. */
export interface NodeOptions {
  db: Database;
  /** Connections of their own for leases, hand-overs, hints: no request waits for them, and they wait for none. */
  control: Database;
  databaseUrl: string;
  encryptionKeys: EncryptionKey[];
  fingerprintSecret: Buffer | null;
  /** Whether data is sealed: `DataVault.shared` of the main thread. */
  /** Operations of one workspace that may be accepted and not ended, over all nodes. */
  workspaceOperations: number;
  /** Bytes that the operations of a workspace without a limit of its own may take; null: any. */
  storedBound: number | null;
  actorThreads: number;
  browserThreads: number;
  /** Those threads, which load already; absent: they are made with the node. */
  pools?: ThreadPools;
  browser: Omit<BrowserHostOptions, 'thread' | 'log'>;
  deliveries: HostOptions['deliveries'];
  log: Logger;
  /** Is told when an actor thread cannot reach the database, and when it can again. */
  outages?: Outages;
  logOptions: LogOptions;
  /** What the threads make spans by, and the main thread's own; absent: none are made. */
  tracingSettings?: TracingSettings | null;
  tracing?: Tracing | undefined;
  /** Counts what happens in workspaces; absent: nothing is counted. */
  tally?: Tally;
  /** Each state that the node enters. */
  onState?: (state: SystemStatus['state']) => void;
}

/** What actor thread number `index` of this node is started with. */
export function hostOptions(options: NodeOptions, nodeId: string, lease: LeaseCell, index: number): HostOptions {
  const { databaseUrl, encryptionKeys, fingerprintSecret, actorThreads, browserThreads, browser } = options;
  const { workspaceOperations, deliveries, logOptions } = options;
  return {
    index,
    nodeId,
    databaseUrl,
    databaseConnections: connectionsPerThread(actorThreads),
    encryptionKeys,
    fingerprintSecret,
    lease: lease.shared,
    reportedBacklog: Math.ceil(workspaceOperations * LIMITS.reported_backlog_share),
    storedBound: options.storedBound,
    log: logOptions,
    tracing: options.tracingSettings ?? null,
    browserThreads,
    deliveries: { ...deliveries, concurrency: Math.max(1, Math.ceil(deliveries.concurrency / actorThreads)) },
    site: browser.site,
  };
}

/** What browser thread number `thread` is started with. */
export function browserHostOptions({ browser, logOptions }: NodeOptions, thread: number): BrowserHostOptions {
  return { ...browser, thread, log: logOptions };
}

/** Connections to the database that a node with so many threads opens at most, beside those of its edge. */
export function actorConnections(threads: number): number {
  const ofHints = 1;
  return ofHints + threads * (connectionsPerThread(threads) + LIMITS.relaxed_connections);
}

/** Database connections one of `threads` threads may hold: four a processor in all, within the bounds for one thread. */
function connectionsPerThread(threads: number): number {
  const share = Math.floor((4 * availableParallelism()) / threads);
  return Math.max(LIMITS.least_thread_connections, Math.min(LIMITS.most_thread_connections, share));
}
