import { readFile } from 'node:fs/promises';
import type { Endpoint } from '../actors/deliveries/callback/address-policy.js';
import { CallbackVerifier } from '../actors/deliveries/callback/callback-verifier.js';
import { callbackResolver } from '../actors/deliveries/callback/host-resolver.js';
import { type Node, openNode } from '../actors/node/node.js';
import type { ThreadPools } from '../actors/node/thread-pools.js';
import { throughOutages } from '../actors/retry.js';
import type { SystemStatus } from '../actors/system.js';
import { findBrowser } from '../browser-pool/chromium/find-browser.js';
import type { Site } from '../browser-pool/social/site/site.js';
import type { Logger } from '../storage/log/log.js';
import { Outages } from '../storage/log/outages.js';
import { announcer } from '../storage/maintenance/announcer.js';
import type { RetentionStats } from '../storage/maintenance/retention/retention.js';
import { Overview } from '../storage/overview/overview.js';
import type { Database } from '../storage/postgres/database.js';
import type { Background } from '../storage/process/background.js';
import { EventLoopLag } from '../storage/process/event-loop-lag.js';
import { DataVault } from '../storage/secrets/data-vault.js';
import { destinationHasher, type EncryptionKey, type KeyRing, keyRing } from '../storage/secrets/encryption.js';
import { fingerprintSecret } from '../storage/secrets/installation.js';
import { openTracing } from '../storage/tracing/open-tracing.js';
import type { Tracing } from '../storage/tracing/tracing.js';
import { type Edge, type EdgeOptions, startEdge } from './edge.js';
import { type Front, type FrontOptions, openFront } from './front.js';
import { type DrainSwitch, drainSwitch } from './http/drain.js';
import { unreadyReasons } from './http/readiness.js';
import { type MetricsServer, startMetrics } from './metrics/metrics.js';
import { nodeMeasures } from './metrics/node-measures.js';
import { type Addresses, baseAddress } from './start/banner.js';
import { requireBrowserSandbox } from './start/browser-sandbox.js';
import { httpConnections } from './start/descriptors.js';
import { type LaunchedDatabase, launchDatabase } from './start/launched-database.js';
import { ProviderNetwork } from './start/provider/provider-network.js';
import type { Services } from './start/services.js';
import type { Config } from './start/settings/config.js';
import { loadEncryptionKeys, noteInstallationKeys, warnOfUnknownKeys } from './start/settings/encryption-keys.js';
import { openStorage, type Storage } from './start/storage.js';
import { storedBound, Upkeep } from './start/upkeep.js';

/** A started service: where it is found, and its database. */
export interface StartedService {
  addresses: Addresses;
  db: Database;
}

export interface StartOptions {
  config: Config;
  log: Logger;
  /** Gets each service as soon as it can be stopped. */
  services: Services;
  /** Set where the database was launched before this file was loaded; whoever did stops it. */
  launched?: LaunchedDatabase | undefined;
  /** They load meanwhile; whoever opened them ends them. */
  pools: ThreadPools;
  /** Called with one line when the service cannot go on later. */
  fatal(line: string): void;
}

/** What stands so far, for those who look at the service while it starts: probes and metrics. */
interface Standing {
  storage?: Storage;
  node?: Node;
  edge?: Edge;
  retained?: RetentionStats;
  /** How long the oldest announcement has waited. */
  untold_s?: number;
}

/** What the configuration says of callbacks, with its file read. */
interface Callbacks {
  allowedNetworks: string[];
  allowedEndpoints: Endpoint[];
  ports: number[];
  ca: string | undefined;
  dnsServers: string[] | null;
}

/** What the node and the edge are made of beside the configuration. */
interface Ground extends Storage {
  keys: EncryptionKey[];
  ring: KeyRing;
  /** The installation's; null while this node cannot open it. */
  secret: Buffer | null;
  site: Site;
  callbacks: Callbacks;
  outages: Outages;
  overview: Overview;
  tracing: Tracing | undefined;
}

/**
 * Starts the service from the ground up: addresses, database, node, edge. The threads and the stand-in network, which wait for nothing, start
 * beside the database. Rejects with one Error that says what to do.
 */
export async function startService(options: StartOptions): Promise<StartedService> {
  const { config, log, services } = options;
  const standing: Standing = {};
  const tracing = await openTracing(config.tracing, 'main', log);
  services.add('tracing', () => tracing?.close());
  const [outages, drain, overview] = [new Outages(log), drainSwitch(), new Overview()];
  const { front, metrics } = await takeAddresses(options, standing, { outages, drain });
  const keys = await loadEncryptionKeys(config);
  const ring = keyRing(keys);
  warnOfGaps(ring, log);
  await requireBrowserSandbox(config.browserSandbox);
  const vault = new DataVault(ring);
  const network = new ProviderNetwork({ config, log, ring, services, db: () => standing.storage?.db });
  const storage = await openStorage(launchedDatabase(options, network), { log, vault, outages, services });
  standing.storage = storage;
  const { db } = storage;
  const keysNoted = Promise.all([warnOfUnknownKeys(db, ring, log), noteInstallationKeys(db, keys, log)]);
  const [secret, site, callbacks] = await Promise.all([
    throughOutages(() => fingerprintSecret(db, ring)),
    throughOutages(() => network.site(db)),
    callbacksOf(config),
  ]);
  vault.hashUnder(secret);
  const ground = { ...storage, keys, ring, secret, site, callbacks, outages, overview, tracing };
  const background = addBackground(options, standing, ground);
  const node = await startNode(options, standing, ground);
  background.startWith(node);
  const edge = await startEdge(edgeOptions(options, ground, { node, drain, metrics }), front);
  standing.edge = edge;
  services.add('requests', () => edge.drain());
  await keysNoted;
  background.startUpkeep(); // behind the start, which has the processor for itself until then
  return {
    addresses: {
      url: baseAddress(config.host, edge.port),
      metricsUrl: metrics.url,
      sandboxControlUrl: network.controlUrl,
    },
    db,
  };
}

/**
 * Takes both ports before anything else is started: one that is in use fails the start at once. Until the node runs, `/readyz` and every
 * request are answered 503 (HTTP-22).
 */
async function takeAddresses(
  { config, log, services }: StartOptions,
  standing: Standing,
  { outages, drain }: { outages: Outages; drain: DrainSwitch },
): Promise<{ front: Front; metrics: MetricsServer }> {
  const front = await openFront(addressOf(config, log));
  services.add('address', () => standing.edge ?? front.close());
  const lag = new EventLoopLag();
  const metrics = await startMetrics(
    { host: config.metricsHost, port: config.metricsPort },
    {
      status: () => standing.node?.status() ?? STARTING,
      stats: () => standing.node?.stats() ?? { hosts: [], browsers: [], threadRestarts: 0 },
      unreadyReasons: async () => {
        const { edge, node, storage } = standing;
        return edge && node && storage
          ? unreadyReasons({ drain, system: node, control: storage.control })
          : [STARTING.state];
      },
      outages,
      pools: () => {
        const { storage } = standing;
        return storage ? { edge: storage.db.stats(), control: storage.control.stats() } : {};
      },
      mainLag_s: () => lag.longest_s,
      untold_s: () => standing.untold_s ?? 0,
      retained: () => standing.retained ?? { erased: {}, behind_s: {} },
    },
  );
  services.add('metrics', () => metrics.stop());
  return { front, metrics };
}

/** Of a service whose node has not started yet. */
const STARTING = {
  ...{ state: 'starting', partitions: 0, actorThreads: 0, browserThreads: 0 },
  lacks: [],
} satisfies SystemStatus;

function addressOf(config: Config, log: Logger): FrontOptions {
  const connections = config.httpConnections ?? httpConnections({ deliveries: config.deliveryConcurrency });
  return { host: config.host, port: config.port, log, connections };
}

function warnOfGaps(ring: KeyRing, log: Logger): void {
  if (!findBrowser()) {
    log.warn(
      'no browser found: social operations fail until chromium-headless-shell or chromium is installed or BROWSER_PATH set',
    );
  }
  if (!ring.available) log.warn('ENCRYPTION_KEYS is not set: nothing that needs sealing can be stored');
}

/** Launches the database, unless it was before, and the stand-in network once DATA_DIR is this process's alone. */
function launchedDatabase(
  { config, log, services, launched: before, fatal }: StartOptions,
  network: ProviderNetwork,
): LaunchedDatabase {
  const launched = before ?? launchDatabase(config, log, fatal);
  if (!before) services.add('embedded database', () => launched.stop());
  if (config.databaseUrl !== null) network.launch();
  else void launched.held.then(() => network.launch());
  return launched;
}

async function callbacksOf(config: Config): Promise<Callbacks> {
  return {
    allowedNetworks: config.callbackAllowedNetworks ?? [],
    allowedEndpoints: config.callbackAllowedEndpoints,
    ports: config.callbackPorts,
    ca: config.callbackCaFile ? await readFile(config.callbackCaFile, 'utf8') : undefined,
    dnsServers: config.callbackDnsServers,
  };
}

/**
 * Adds what goes on beside the requests. It is stopped behind the node, whose last ends are counted and told, so it is added before it, and
 * started later.
 */
function addBackground({ config, log, services }: StartOptions, standing: Standing, { db, control, overview }: Ground) {
  services.add('connections', () => standing.edge?.close());
  let counting: Pick<Background, 'stop'> | undefined;
  services.add('overview', () => counting?.stop());
  const told = announcer({
    ...{ db, log },
    waits: (oldest_s) => {
      standing.untold_s = oldest_s;
    },
    recorded: (events) => {
      for (const { connection_id: connectionId } of events) standing.node?.hint({ type: 'deliveries', connectionId });
    },
  });
  services.add('announcer', () => told.stop());
  const retained = (stats: RetentionStats) => {
    standing.retained = stats;
  };
  const upkeep = new Upkeep({ config, log, db, control, retained });
  services.add('upkeep', () => upkeep.stop());
  return {
    startWith(node: Node) {
      counting = overview.start({ db: control, log, nodeId: node.id, measures: nodeMeasures(node) });
      told.start();
    },
    startUpkeep: () => upkeep.start(),
  };
}

async function startNode(
  { config, log, services, pools }: StartOptions,
  standing: Standing,
  { db, control, url, keys, secret, site, callbacks, outages, overview, tracing }: Ground,
): Promise<Node> {
  const node = openNode({
    db,
    control,
    databaseUrl: url,
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
    tracing,
  });
  standing.node = node;
  services.add('node', () => node.stop());
  await node.start();
  return node;
}

function edgeOptions(
  { config, log }: StartOptions,
  { db, control, ring, secret, site, callbacks, overview, tracing }: Ground,
  { node, drain, metrics }: { node: Node; drain: DrainSwitch; metrics: MetricsServer },
): EdgeOptions {
  const { allowedNetworks, allowedEndpoints, ports, dnsServers, ca } = callbacks;
  const callbackPolicy = { allowedNetworks, allowedEndpoints, ports, resolve: callbackResolver(dnsServers) };
  return {
    ...addressOf(config, log),
    ...{ db, control, drain, ring, overview, callbackPolicy, tracing },
    system: node,
    subscriptions: {
      bounds: {
        ofConnection: config.connectionSubscriptions,
        ofWorkspace: config.workspaceSubscriptions,
        ofDestination: config.destinationSubscriptions,
      },
      destination: secret && destinationHasher(secret),
      verifier:
        config.callbackVerification === 'required' ? new CallbackVerifier({ policy: callbackPolicy, ca }) : undefined,
    },
    logSample: config.log.sample,
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
}
