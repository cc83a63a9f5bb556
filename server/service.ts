import { readFile } from 'node:fs/promises';
import { callbackResolver } from '../actors/deliveries/host-resolver.js';
import { type Node, startNode } from '../actors/node/node.js';
import { findBrowser } from '../browser-pool/chromium/find-browser.js';
import type { Site } from '../browser-pool/social/site/site.js';
import { Removals } from '../storage/connections/removals.js';
import type { Logger } from '../storage/log.js';
import { outageLog } from '../storage/outage-log.js';
import { type Database, openDatabase } from '../storage/postgres/database.js';
import { connectDatabase, type DatabaseServer } from '../storage/postgres/embedded.js';
import { migrate } from '../storage/postgres/migrate.js';
import { TIME_LIMITS } from '../storage/postgres/time-limits.js';
import { type EncryptionKey, type KeyRing, keyRing } from '../storage/secrets/encryption.js';
import { fingerprintSecret } from '../storage/secrets/installation.js';
import { type Edge, startEdge } from './edge.js';
import { type MetricsServer, startMetrics } from './metrics/metrics.js';
import { type Addresses, baseAddress } from './start/banner.js';
import { requireBrowserSandbox } from './start/browser-sandbox.js';
import type { Config } from './start/config.js';
import { httpConnections } from './start/descriptors.js';
import { loadEncryptionKeys, noteInstallationKeys, warnOfUnknownKeys } from './start/encryption-keys.js';
import { useSandboxProxies } from './start/first-run.js';
import { LIMITS } from './start/limits.js';
import { describedProvider, sandboxSite } from './start/provider-site.js';
import { type SandboxProcess, startSandbox } from './start/sandbox-process.js';

/**
 * The parts of a running service, from the ground up: database, stand-in network, node, metrics, edge. Each is set once it
 * has started, so that `stopService` also cleans up after a start that failed in the middle.
 */
export interface Parts {
  database?: DatabaseServer;
  db?: Database;
  control?: Database;
  removals?: Removals;
  sandbox?: SandboxProcess;
  node?: Node;
  metrics?: MetricsServer;
  edge?: Edge;
}

/** A started service: where it is found, and its database. */
export interface StartedService {
  addresses: Addresses;
  db: Database;
}

/** What of the configuration concerns callbacks, with its file read. */
interface Callbacks {
  allowedNetworks: string[];
  ca: string | undefined;
  dnsServers: string[] | null;
}

/** What the node is made of beside the configuration. */
interface ActorParts {
  db: Database;
  control: Database;
  keys: EncryptionKey[];
  site: Site;
  callbacks: Callbacks;
}

/** Starts every part and notes it in `parts`. Rejects with one Error that says what to do. */
export async function startService(config: Config, log: Logger, parts: Parts): Promise<StartedService> {
  const keys = await loadEncryptionKeys(config);
  const ring = keyRing(keys);
  warnOfGaps(ring, log);
  await requireBrowserSandbox(config.browserSandbox);
  const { db, control } = await openStorage(config, log, parts);
  await warnOfUnknownKeys(db, ring, log);
  await noteInstallationKeys(db, keys, log);
  parts.removals = new Removals({ db, log });
  parts.removals.start();
  const site = await startProvider(config, log, parts, db, ring);
  const callbacks: Callbacks = {
    allowedNetworks: config.callbackAllowedNetworks ?? [],
    ca: config.callbackCaFile ? await readFile(config.callbackCaFile, 'utf8') : undefined,
    dnsServers: config.callbackDnsServers,
  };
  const node = await startActors(config, log, parts, { db, control, keys, site, callbacks });
  const metrics = await startMetrics(config.metricsPort, node);
  parts.metrics = metrics;
  const edge = await startEdge({
    host: config.host,
    port: config.port,
    db,
    control,
    ring,
    system: node,
    log,
    callbackPolicy: {
      allowedNetworks: callbacks.allowedNetworks,
      resolve: callbackResolver(callbacks.dnsServers),
    },
    onAnswered: metrics.observe,
    providerDomains: site.domains,
    ...(config.gateway && { gateway: { id: config.gateway.clientId, secret: config.gateway.clientSecret } }),
    workspaceRequests: config.workspaceRequests,
    connections: config.httpConnections ?? httpConnections({ deliveries: config.deliveryConcurrency }),
    bodyMemoryMib: config.bodyMemoryMib,
    ...(config.rateLimitPerSecond !== null && { rateLimitPerSecond: config.rateLimitPerSecond }),
  });
  parts.edge = edge;
  return {
    addresses: {
      url: baseAddress(config.host, edge.port),
      metricsUrl: metrics.url,
      sandboxControlUrl: parts.sandbox?.ready.control_url ?? null,
    },
    db,
  };
}

/** Refuses new work, lets what runs end, hands the partitions over, and closes every part from the top down. */
export async function stopService(parts: Parts, log: Logger): Promise<void> {
  await parts.edge?.drain();
  await parts.node?.stop();
  await parts.edge?.close();
  await parts.metrics?.stop();
  await parts.sandbox?.stop();
  await parts.removals?.stop();
  await parts.control?.close();
  await parts.db?.close();
  await parts.database?.stop();
  log.info('stopped');
}

function warnOfGaps(ring: KeyRing, log: Logger): void {
  if (!findBrowser()) {
    log.warn(
      'no browser found: social operations fail until chromium-headless-shell or chromium is installed or BROWSER_PATH set',
    );
  }
  if (!ring.available) log.warn('ENCRYPTION_KEYS is not set: nothing that needs sealing can be stored');
}

async function openStorage(config: Config, log: Logger, parts: Parts): Promise<{ db: Database; control: Database }> {
  log.info(config.databaseUrl ? 'connecting to the database' : 'starting the embedded database');
  parts.database = await connectDatabase({
    databaseUrl: config.databaseUrl ?? undefined,
    dataDir: config.dataDir,
    exclusive: true,
  });
  log.info('bringing the schema up to date');
  await migrate(parts.database.url, {
    onNewer: (migrations) =>
      log.warn({ migrations }, 'a newer version has migrated the database, which this one works with'),
  });
  const onError = (error: Error) => log.warn({ err: error }, 'database connection lost');
  const { url } = parts.database;
  parts.db = openDatabase({
    ...{ url, onError, outage: outageLog(log.child({ pool: 'edge' })), limits: TIME_LIMITS.edge },
    maxConnections: LIMITS.edge_connections,
    applicationName: 'connection-service edge',
  });
  parts.control = openDatabase({
    ...{ url, onError, outage: outageLog(log.child({ pool: 'control' })), limits: TIME_LIMITS.control },
    maxConnections: LIMITS.control_connections,
    applicationName: 'connection-service control',
  });
  return { db: parts.db, control: parts.control };
}

/** The site the browser drives: the stand-in network, started here, or the operator's own description. */
async function startProvider(config: Config, log: Logger, parts: Parts, db: Database, ring: KeyRing): Promise<Site> {
  switch (config.provider.kind) {
    case 'site':
      return sharedProvider(config.provider.file, log, db, ring);
    case 'sandbox': {
      const sandbox = await startSandbox({
        dataDir: config.dataDir,
        controlPort: config.sandboxControlPort,
        log,
        onRestart: (ready) => useSandboxProxies(db, ring, ready, log),
      });
      parts.sandbox = sandbox;
      await useSandboxProxies(db, ring, sandbox.ready, log);
      return sandboxSite(sandbox.ready);
    }
    default:
      return config.provider satisfies never;
  }
}

/** The site that a file describes; a stand-in network's proxies are put in place, as after its own start. */
async function sharedProvider(file: string, log: Logger, db: Database, ring: KeyRing): Promise<Site> {
  const { site, network } = await describedProvider(file);
  if (network) await useSandboxProxies(db, ring, network, log);
  return site;
}

async function startActors(
  config: Config,
  log: Logger,
  parts: Parts,
  { db, control, keys, site, callbacks }: ActorParts,
): Promise<Node> {
  if (!parts.database) throw new Error('the database has not started');
  const node = await startNode({
    db,
    control,
    databaseUrl: parts.database.url,
    encryptionKeys: keys,
    fingerprintSecret: await fingerprintSecret(db, keyRing(keys)),
    workspaceOperations: config.workspaceOperations,
    actorThreads: config.actorThreads,
    browserThreads: config.browserThreads,
    browser: {
      site,
      limits: { contexts: config.browserContexts },
      sandbox: config.browserSandbox,
      ...(config.browserArtifactsDir !== null && { artifactsDir: config.browserArtifactsDir }),
    },
    deliveries: {
      concurrency: config.deliveryConcurrency,
      workspacePercent: config.deliveryWorkspacePercent,
      ...callbacks,
    },
    log,
    logOptions: config.log,
  });
  parts.node = node;
  return node;
}
