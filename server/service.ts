import { readFile } from 'node:fs/promises';
import type { Endpoint } from '../actors/deliveries/address-policy.js';
import { CallbackVerifier } from '../actors/deliveries/callback-verifier.js';
import { callbackResolver } from '../actors/deliveries/host-resolver.js';
import { type Node, openNode } from '../actors/node/node.js';
import { endThreads, openThreadPools, type ThreadPools } from '../actors/node/thread-pools.js';
import { throughOutages } from '../actors/retry.js';
import type { SystemStatus } from '../actors/system.js';
import { findBrowser } from '../browser-pool/chromium/find-browser.js';
import type { Site } from '../browser-pool/social/site/site.js';
import { auditEras } from '../storage/audit/eras.js';
import { auditUpkeep } from '../storage/audit/parts.js';
import type { Background } from '../storage/background.js';
import { Removals } from '../storage/connections/removals.js';
import { announcer } from '../storage/deliveries/announcer.js';
import { settling } from '../storage/deliveries/settling.js';
import { EventLoopLag } from '../storage/event-loop-lag.js';
import { expiredSecrets } from '../storage/expired-secrets.js';
import type { Logger } from '../storage/log.js';
import type { Vault } from '../storage/model/vault.js';
import { Outages } from '../storage/outages.js';
import { Overview } from '../storage/overview/overview.js';
import { type Database, openDatabase } from '../storage/postgres/database.js';
import type { DatabaseServer } from '../storage/postgres/embedded.js';
import { migrate } from '../storage/postgres/migrate.js';
import { findingLine } from '../storage/postgres/server-checks/inspect.js';
import { TIME_LIMITS } from '../storage/postgres/time-limits.js';
import { type RetentionStats, retention } from '../storage/retention/retention.js';
import { DataVault } from '../storage/secrets/data-vault.js';
import { destinationHasher, type EncryptionKey, type KeyRing, keyRing } from '../storage/secrets/encryption.js';
import { fingerprintSecret } from '../storage/secrets/installation.js';
import { openTracing } from '../storage/tracing/open-tracing.js';
import type { Tracing } from '../storage/tracing/tracing.js';
import { storedMeter } from '../storage/workspaces/stored-meter.js';
import { type Edge, type EdgeOptions, startEdge } from './edge.js';
import { type Front, type FrontOptions, openFront } from './front.js';
import { type DrainSwitch, drainSwitch } from './http/drain.js';
import { unreadyReasons } from './http/readiness.js';
import { type MetricsServer, startMetrics } from './metrics/metrics.js';
import { nodeMeasures } from './metrics/node-measures.js';
import { type Addresses, baseAddress } from './start/banner.js';
import { requireBrowserSandbox } from './start/browser-sandbox.js';
import type { Config } from './start/config.js';
import { httpConnections } from './start/descriptors.js';
import { loadEncryptionKeys, noteInstallationKeys, warnOfUnknownKeys } from './start/encryption-keys.js';
import { refuseForgottenProvider, removeSandboxProxies, useSandboxProxies } from './start/first-run.js';
import { type LaunchedDatabase, launchDatabase } from './start/launched-database.js';
import { LIMITS } from './start/limits.js';
import { describedProvider, sandboxSite } from './start/provider-site.js';
import { launchSandbox, type SandboxProcess } from './start/sandbox-process.js';

/**
 * The parts of a running service: its addresses, then from the ground up database, stand-in network, node, edge. Each is set as soon as
 * it can be stopped, so that `stopService` also cleans up after a start that failed in the middle. The network and the threads, which wait
 * for nothing, start beside the database.
 */
export interface Parts {
  /** Set before the service is loaded where the database stands already (`start/launched-database.ts`). */
  launched?: LaunchedDatabase | undefined;
  database?: DatabaseServer;
  db?: Database;
  control?: Database;
  /** What every node looks after beside the service. */
  upkeep?: Pick<Background, 'start' | 'stop'>[];
  retained?: RetentionStats;
  announcer?: Background;
  /** How long the oldest announcement has waited. */
  untold_s?: number;
  overview?: Pick<Background, 'stop'>;
  sandbox?: SandboxProcess;
  /** The node's, once there is one. */
  pools?: ThreadPools;
  node?: Node;
  metrics?: MetricsServer;
  front?: Front;
  edge?: Edge;
  tracing?: Tracing | undefined;
}

/** A started service: where it is found, and its database. */
export interface StartedService {
  addresses: Addresses;
  db: Database;
}

/** What of the configuration concerns callbacks, with its file read. */
interface Callbacks {
  allowedNetworks: string[];
  allowedEndpoints: Endpoint[];
  ports: number[];
  ca: string | undefined;
  dnsServers: string[] | null;
}

/** What the node is made of beside the configuration. */
interface ActorParts {
  db: Database;
  control: Database;
  keys: EncryptionKey[];
  /** The installation's; null while this node cannot open it. */
  secret: Buffer | null;
  site: Site;
  callbacks: Callbacks;
  outages: Outages;
  overview: Overview;
  pools: ThreadPools;
}

/**
 * Starts every part and notes it in `parts`. Rejects with one Error that says what to do. `fatal` is called with one line when the
 * service cannot go on later.
 */
export async function startService(
  config: Config,
  log: Logger,
  parts: Parts,
  fatal: (line: string) => void,
): Promise<StartedService> {
  parts.tracing = await openTracing(config.tracing, 'main', log);
  const outages = new Outages(log);
  const drain = drainSwitch();
  const address: FrontOptions = {
    host: config.host,
    port: config.port,
    log,
    connections: config.httpConnections ?? httpConnections({ deliveries: config.deliveryConcurrency }),
  };
  const { front, metrics } = await takeAddresses(config, address, parts, { outages, drain });
  const keys = await loadEncryptionKeys(config);
  const ring = keyRing(keys);
  warnOfGaps(ring, log);
  await requireBrowserSandbox(config.browserSandbox);
  const pools = openThreadPools(config); // they load beside the database
  parts.pools = pools;
  const vault = new DataVault(ring);
  const network = networkOf(config, log, parts, ring);
  const { db, control } = await openStorage(config, vault, log, parts, { outages, fatal, unused: network.launch });
  await warnOfUnknownKeys(db, ring, log);
  await noteInstallationKeys(db, keys, log);
  const secret = await throughOutages(() => fingerprintSecret(db, ring));
  vault.hashUnder(secret);
  const site = await throughOutages(() => providerSite(config, log, network, { db, ring }));
  const callbacks: Callbacks = {
    allowedNetworks: config.callbackAllowedNetworks ?? [],
    allowedEndpoints: config.callbackAllowedEndpoints,
    ports: config.callbackPorts,
    ca: config.callbackCaFile ? await readFile(config.callbackCaFile, 'utf8') : undefined,
    dnsServers: config.callbackDnsServers,
  };
  const overview = new Overview();
  const node = await startActors(config, log, parts, {
    db,
    control,
    keys,
    secret,
    site,
    callbacks,
    outages,
    overview,
    pools,
  });
  parts.overview = overview.start({ db: control, log, nodeId: node.id, measures: nodeMeasures(node) });
  parts.announcer = announcer({
    ...{ db, log },
    waits: (oldest_s) => {
      parts.untold_s = oldest_s;
    },
    recorded: (events) => {
      for (const { connection_id: connectionId } of events) node.hint({ type: 'deliveries', connectionId });
    },
  });
  parts.announcer.start();
  const { allowedNetworks, allowedEndpoints, ports, dnsServers } = callbacks;
  const callbackPolicy = { allowedNetworks, allowedEndpoints, ports, resolve: callbackResolver(dnsServers) };
  const edgeOptions: EdgeOptions = {
    ...address,
    db,
    control,
    drain,
    ring,
    system: node,
    overview,
    callbackPolicy,
    subscriptions: {
      bounds: {
        ofConnection: config.connectionSubscriptions,
        ofWorkspace: config.workspaceSubscriptions,
        ofDestination: config.destinationSubscriptions,
      },
      destination: secret && destinationHasher(secret),
      verifier:
        config.callbackVerification === 'required'
          ? new CallbackVerifier({ policy: callbackPolicy, ca: callbacks.ca })
          : undefined,
    },
    logSample: config.log.sample,
    tracing: parts.tracing,
    onAnswered: metrics.observe,
    providerDomains: site.domains,
    ...(config.gateway && { gateway: { id: config.gateway.clientId, secret: config.gateway.clientSecret } }),
    limits: config.workspaceLimits,
    workspaceRequests: config.workspaceRequests,
    bodyMemoryMib: config.bodyMemoryMib,
    publicUrl: config.publicUrl,
    trustedProxies: config.trustedProxies,
    keyExpiryWarningDays: config.keyExpiryWarningDays,
    ...(config.rateLimitPerSecond !== null && { rateLimitPerSecond: config.rateLimitPerSecond }),
  };
  const edge = await startEdge(edgeOptions, front);
  parts.edge = edge;
  startBackground(config, log, parts, { db, control });
  return {
    addresses: {
      url: baseAddress(config.host, edge.port),
      metricsUrl: metrics.url,
      sandboxControlUrl: parts.sandbox?.ready.control_url ?? null,
    },
    db,
  };
}

/** What goes on beside the requests: it begins behind the start, which has the processor for itself until then. */
function startBackground(
  config: Config,
  log: Logger,
  parts: Parts,
  { db, control }: Pick<ActorParts, 'db' | 'control'>,
): void {
  parts.upkeep = [
    new Removals({ db, log }),
    settling({ db, log }),
    expiredSecrets(control, log),
    retention({
      ...{ db, log, days: config.retention },
      stats: (stats) => {
        parts.retained = stats;
      },
    }),
    storedMeter({ db, log, bound: storedBound(config) }),
    auditUpkeep({ db, log }),
  ];
  for (const one of parts.upkeep) one.start();
}

/** Bytes; null: a workspace may store any. */
function storedBound({ workspaceLimits: { stored_mib } }: Config): number | null {
  return stored_mib && stored_mib * 2 ** 20;
}

/**
 * Takes both ports before anything is started: one that is in use fails the start at once. Until the node runs, `/readyz` and every
 * request are answered 503 (HTTP-22).
 */
async function takeAddresses(
  { metricsHost: host, metricsPort: port }: Config,
  address: FrontOptions,
  parts: Parts,
  { outages, drain }: { outages: Outages; drain: DrainSwitch },
) {
  const front = await openFront(address);
  parts.front = front;
  const lag = new EventLoopLag();
  const metrics = await startMetrics(
    { host, port },
    {
      status: () => parts.node?.status() ?? STARTING,
      stats: () => parts.node?.stats() ?? { hosts: [], browsers: [], threadRestarts: 0 },
      unreadyReasons: async () => {
        const { edge, node, control } = parts;
        return edge && node && control ? unreadyReasons({ drain, system: node, control }) : [STARTING.state];
      },
      outages,
      pools: () => ({
        ...(parts.db && { edge: parts.db.stats() }),
        ...(parts.control && { control: parts.control.stats() }),
      }),
      mainLag_s: () => lag.longest_s,
      untold_s: () => parts.untold_s ?? 0,
      retained: () => parts.retained ?? { erased: {}, behind_s: {} },
    },
  );
  parts.metrics = metrics;
  return { front, metrics };
}

/** Of a service whose node has not started yet. */
const STARTING = {
  ...{ state: 'starting', partitions: 0, actorThreads: 0, browserThreads: 0 },
  lacks: [],
} satisfies SystemStatus;

/** Refuses new work, lets what runs end, hands the partitions over, and closes every part from the top down. */
export async function stopService(parts: Parts, log: Logger): Promise<void> {
  await parts.edge?.drain();
  await parts.node?.stop();
  if (!parts.node && parts.pools) await endThreads(parts.pools.actors, parts.pools.browsers);
  await parts.edge?.close();
  if (!parts.edge) parts.front?.close();
  await parts.metrics?.stop();
  await parts.tracing?.close();
  await parts.sandbox?.stop();
  await Promise.all((parts.upkeep ?? []).map((one) => one.stop()));
  await parts.announcer?.stop();
  await parts.overview?.stop();
  await parts.control?.close();
  await parts.db?.close();
  await parts.launched?.stop();
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

async function openStorage(
  config: Config,
  vault: Vault,
  log: Logger,
  parts: Parts,
  { outages, fatal, unused }: { outages: Outages; fatal: (line: string) => void; unused: () => void },
): Promise<{ db: Database; control: Database }> {
  parts.launched ??= launchDatabase(config, log, fatal);
  if (config.databaseUrl !== null) unused();
  else void parts.launched.held.then(unused);
  parts.database = await parts.launched.server;
  for (const finding of parts.database.findings) {
    if (finding.level === 'warning') log.warn({ means: finding.means }, `DATABASE_URL: ${findingLine(finding)}`);
  }
  log.info('bringing the schema up to date');
  const onNewer = (migrations: string[]) =>
    log.warn({ migrations }, 'a newer version has migrated the database, which this one works with');
  const { url } = parts.database;
  await throughOutages(() => migrate(url, { onNewer }));
  const onError = (error: Error) => log.warn({ err: error }, 'database connection lost');
  const db = openDatabase({
    ...{ url, vault, onError, outage: outages.pool('edge'), limits: TIME_LIMITS.edge },
    maxConnections: LIMITS.edge_connections,
    applicationName: 'connection-service edge',
  });
  parts.db = db;
  parts.control = openDatabase({
    ...{ url, onError, outage: outages.pool('control'), limits: TIME_LIMITS.control },
    maxConnections: LIMITS.control_connections,
    applicationName: 'connection-service control',
  });
  await throughOutages(() => auditEras(db)); // notes a dump that was loaded, before anything is added to its log
  return { db, control: parts.control };
}

/** The stand-in network, where it is the provider: launched once nobody else uses DATA_DIR, beside the database. */
interface Network {
  launch(): void;
  /** Resolves when it serves. */
  started(): Promise<SandboxProcess>;
}

function networkOf(config: Config, log: Logger, parts: Parts, ring: KeyRing): Network {
  let launched: ReturnType<typeof launchSandbox> | undefined;
  return {
    launch() {
      if (config.provider.kind !== 'sandbox') return;
      launched ??= launchSandbox({
        dataDir: config.dataDir,
        controlPort: config.sandboxControlPort,
        log,
        onRestart: async (ready) => {
          if (parts.db) await useSandboxProxies(parts.db, ring, ready, log);
        },
      });
      parts.sandbox = launched.sandbox;
    },
    async started() {
      if (!launched) throw new Error('the stand-in network was not launched');
      await launched.started;
      return launched.sandbox;
    },
  };
}

/** The site the browser drives: the stand-in network's, or that of the operator's own description. */
async function providerSite(
  config: Config,
  log: Logger,
  network: Network,
  { db, ring }: { db: Database; ring: KeyRing },
): Promise<Site> {
  switch (config.provider.kind) {
    case 'site':
      return sharedProvider(config.provider.file, log, db, ring);
    case 'sandbox': {
      await refuseForgottenProvider(config, db);
      const { ready } = await network.started();
      await useSandboxProxies(db, ring, ready, log);
      return sandboxSite(ready);
    }
    default:
      return config.provider satisfies never;
  }
}

/** The site that a file describes; a stand-in network's proxies are put in place, as after its own start. */
async function sharedProvider(file: string, log: Logger, db: Database, ring: KeyRing): Promise<Site> {
  const { site, network } = await describedProvider(file);
  if (network) await useSandboxProxies(db, ring, network, log);
  else await removeSandboxProxies(db, log);
  return site;
}

async function startActors(
  config: Config,
  log: Logger,
  parts: Parts,
  { db, control, keys, secret, site, callbacks, outages, overview, pools }: ActorParts,
): Promise<Node> {
  if (!parts.database) throw new Error('the database has not started');
  const node = openNode({
    db,
    control,
    databaseUrl: parts.database.url,
    encryptionKeys: keys,
    fingerprintSecret: secret,
    workspaceOperations: config.workspaceOperations,
    storedBound: storedBound(config),
    actorThreads: config.actorThreads,
    browserThreads: config.browserThreads,
    pools,
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
    outages,
    tally: overview.tally,
    logOptions: config.log,
    tracingSettings: config.tracing,
    tracing: parts.tracing,
  });
  parts.node = node; // from here on it is stopped in order
  await node.start();
  return node;
}
