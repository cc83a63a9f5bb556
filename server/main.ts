import { readFile } from 'node:fs/promises';
import typia, { TypeGuardError } from 'typia';
import { callbackResolver } from '../actors/deliveries/host-resolver.js';
import { type Node, startNode } from '../actors/node/node.js';
import { findBrowser } from '../browser-pool/chromium/find-browser.js';
import type { Site } from '../browser-pool/social/site/site.js';
import { socialSite } from '../browser-pool/social/site/stand-in.js';
import { createLogger, type Logger } from '../storage/log.js';
import { type Database, openDatabase } from '../storage/postgres/database.js';
import { connectDatabase, type DatabaseServer, DatabaseUnavailable } from '../storage/postgres/embedded.js';
import { migrate } from '../storage/postgres/migrate.js';
import { keyRing } from '../storage/secrets/encryption.js';
import { fingerprintSecret } from '../storage/secrets/installation.js';
import { type Edge, startEdge } from './edge.js';
import { type MetricsServer, startMetrics } from './metrics/metrics.js';
import { banner, baseAddress, readyLine } from './start/banner.js';
import { type Config, ConfigError, readConfig } from './start/config.js';
import { loadEncryptionKeys } from './start/encryption-keys.js';
import { ensureDemoKey, useSandboxProxies, withDemoReceiver } from './start/first-run.js';
import { type SandboxProcess, startSandbox } from './start/sandbox-process.js';

/**
 * The service: `npm start`. Starts its parts from the ground up and stops them from the top down; a part that cannot start
 * ends the process with one line that says what to do (status 2 for a setting, 1 for the rest).
 */
interface Parts {
  database?: DatabaseServer;
  db?: Database;
  sandbox?: SandboxProcess;
  node?: Node;
  edge?: Edge;
  metrics?: MetricsServer;
}

/** Connections of the main thread: reads and resource writes of the edge, renewals. */
const EDGE_CONNECTIONS = 10;

async function start(config: Config, log: Logger, parts: Parts): Promise<string> {
  const keys = await loadEncryptionKeys(config);
  const ring = keyRing(keys);
  if (!findBrowser()) {
    log.warn(
      'no browser found: social operations fail until chromium-headless-shell or chromium is installed or BROWSER_PATH set',
    );
  }
  if (!ring.available) log.warn('ENCRYPTION_KEYS is not set: nothing that needs sealing can be stored');
  log.info(config.databaseUrl ? 'connecting to the database' : 'starting the embedded database');
  parts.database = await connectDatabase({
    databaseUrl: config.databaseUrl ?? undefined,
    dataDir: config.dataDir,
    exclusive: true,
  });
  log.info('bringing the schema up to date');
  await migrate(parts.database.url);
  const db = openDatabase({
    url: parts.database.url,
    maxConnections: EDGE_CONNECTIONS,
    applicationName: 'connection-service edge',
    onError: (error) => log.warn({ err: error }, 'database connection lost'),
  });
  parts.db = db;
  const site = await provider(config, log, parts, (sandbox) => useSandboxProxies(db, ring, sandbox, log));
  const callbacks = {
    allowedNetworks: config.callbackAllowedNetworks ?? [],
    ca: config.callbackCaFile ? await readFile(config.callbackCaFile, 'utf8') : undefined,
    dnsServers: config.callbackDnsServers,
  };
  const node = await startNode({
    db,
    databaseUrl: parts.database.url,
    encryptionKeys: keys,
    fingerprintSecret: await fingerprintSecret(db),
    actorThreads: config.actorThreads,
    browserThreads: config.browserThreads,
    browser: {
      site,
      limits: { contexts: config.browserContexts },
      ...(config.browserArtifactsDir !== null && { artifactsDir: config.browserArtifactsDir }),
    },
    deliveries: { concurrency: config.deliveryConcurrency, ...callbacks },
    log,
    logOptions: config.log,
  });
  parts.node = node;
  const metrics = await startMetrics(config.metricsPort, node);
  parts.metrics = metrics;
  const edge = await startEdge({
    host: config.host,
    port: config.port,
    db,
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
    ...(config.rateLimitPerSecond !== null && { rateLimitPerSecond: config.rateLimitPerSecond }),
  });
  parts.edge = edge;
  const demoKey = await ensureDemoKey(config, db);
  const addresses = {
    url: baseAddress(config.host, edge.port),
    metricsUrl: metrics.url,
    sandboxControlUrl: parts.sandbox?.ready.control_url ?? null,
  };
  return config.announce === 'json' ? readyLine(addresses) : banner(config, addresses, demoKey);
}

/** The site the browser drives: the stand-in network, started here, or the operator's own description. */
async function provider(
  config: Config,
  log: Logger,
  parts: Parts,
  useProxies: (sandbox: SandboxProcess['ready']) => Promise<void>,
): Promise<Site> {
  if (config.provider.kind === 'site') return describedSite(config.provider.file);
  const sandbox = await startSandbox({
    dataDir: config.dataDir,
    controlPort: config.sandboxControlPort,
    log,
    onRestart: useProxies,
  });
  parts.sandbox = sandbox;
  await useProxies(sandbox.ready);
  const { origin, ca_file, spki } = sandbox.ready;
  return socialSite({ origin, spki, ca: await readFile(ca_file, 'utf8') });
}

async function describedSite(file: string): Promise<Site> {
  try {
    return typia.json.assertParse<Site>(await readFile(file, 'utf8'));
  } catch (error) {
    const wrong = error instanceof TypeGuardError ? `${error.path} wants ${error.expected}` : (error as Error).message;
    throw new ConfigError(`PROVIDER has ${JSON.stringify(file)} (${wrong}), it wants a site description`);
  }
}

/** Refuses new work, lets what runs end, hands the partitions over, and closes everything. */
async function stop(parts: Parts, log: Logger): Promise<void> {
  await parts.edge?.drain();
  await parts.node?.stop();
  await parts.edge?.close();
  await parts.metrics?.stop();
  await parts.sandbox?.stop();
  await parts.db?.close();
  await parts.database?.stop();
  log.info('stopped');
}

/** One line for whatever kept the service from starting. */
function whyNot(error: unknown): { line: string; status: number } {
  if (error instanceof ConfigError) return { line: error.message, status: 2 };
  if (error instanceof DatabaseUnavailable) return { line: error.message, status: 1 };
  return { line: error instanceof Error ? error.message.replace(/\s*\n\s*/g, ' ') : String(error), status: 1 };
}

async function main(): Promise<void> {
  const parts: Parts = {};
  let log: Logger | undefined;
  let stopping = false;
  const shutDown = async (signal: string) => {
    if (stopping) return;
    stopping = true;
    log?.info({ signal }, 'stopping');
    if (log) await stop(parts, log).catch((error) => log?.error({ err: error }, 'stopping failed'));
    process.exit(0);
  };
  process.on('SIGTERM', shutDown);
  process.on('SIGINT', shutDown);
  try {
    if (Number(process.versions.node.split('.')[0]) < 22) {
      throw new ConfigError(`node is ${process.version}, it wants 22 or newer: use npm start, which brings its own`);
    }
    const config = await withDemoReceiver(readConfig(process.env));
    log = createLogger(config.log, { thread: 'main' });
    const announcement = await start(config, log, parts);
    if (!stopping) process.stdout.write(`${announcement}\n`);
  } catch (error) {
    if (stopping) return;
    stopping = true;
    const { line, status } = whyNot(error);
    process.stderr.write(`${line}\n`);
    if (log) await stop(parts, createLogger({ level: 'silent', format: 'json' }, {})).catch(() => {});
    process.exit(status);
  }
}

await main();
