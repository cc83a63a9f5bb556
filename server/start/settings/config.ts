import { availableParallelism } from 'node:os';
import { secretNames } from '../../../storage/log/secret-names.js';
import type { RetentionDays } from '../../../storage/maintenance/retention/classes.js';
import type { EncryptionKey } from '../../../storage/secrets/encryption.js';
import type { TracingSettings } from '../../../storage/tracing/tracing.js';
import type { WorkspaceLimits } from '../../../storage/workspaces/limits.js';
import { Unusable } from './kinds.js';
import {
  type Machine,
  type ProviderSetting,
  type Settings,
  VARIABLES,
  type Variable,
  type VariableName,
} from './variables.js';

/**
 * The environment, read once at start. Three places read a variable besides: the HTTP library its bound of headers
 * (`server/http/wire/socket.ts`), and the search for a browser (`browser-pool/chromium/find-browser.ts`) and its installation
 * (`browser-pool/chromium/install.ts`).
 */
export interface Config {
  host: string;
  /** 0 takes a free one. */
  port: number;
  /** Absolute. */
  dataDir: string;
  /** Null: the embedded database in `dataDir`. */
  databaseUrl: string | null;
  /** Null: `loadEncryptionKeys` decides. */
  encryptionKeys: EncryptionKey[] | null;
  /** Set: the service is hosted behind a gateway, and every request must carry both headers (HTTP-11). */
  gateway: { clientId: string; clientSecret: string } | null;
  /** The origin at which browsers find the service. Null: nobody is sent there. */
  publicUrl: string | null;
  /** Days before its end from which the answers to a key tell of it. */
  keyExpiryWarningDays: number;
  /** CIDRs of proxies that say where a request comes from. */
  trustedProxies: string[];
  /** What is erased by its age. */
  retention: RetentionDays;
  provider: ProviderSetting;
  /** PROVIDER is not set. */
  providerByDefault: boolean;
  sandboxControlPort: number;
  actorThreads: number;
  browserThreads: number;
  /** Warm browser contexts a browser thread keeps at most. */
  browserContexts: number;
  /** Callback attempts in flight at most, shared out among the actor threads. */
  deliveryConcurrency: number;
  /** Of these, what one workspace may have at most, in percent. */
  deliveryWorkspacePercent: number;
  /** CIDRs that callbacks may reach although they are not public (EVT-2). */
  callbackAllowedNetworks: string[] | null;
  /** Single ports that callbacks may reach as well: of a trial, its receiver's. */
  callbackAllowedEndpoints: { address: string; port: number }[];
  /** Ports of public addresses that callbacks may use (EVT-2). */
  callbackPorts: number[];
  /** Whether addresses have to prove themselves before they get callbacks (EVT-18). */
  callbackVerification: Settings['CALLBACK_VERIFICATION'];
  /** PEM file of a CA trusted for callbacks beside the public ones. */
  callbackCaFile: string | null;
  /** `address` or `address:port`. Null: the machine's resolver. */
  callbackDnsServers: string[] | null;
  metricsHost: string;
  metricsPort: number;
  log: { level: Settings['LOG_LEVEL']; format: Settings['LOG_FORMAT']; sample: number };
  /** Null: no spans are made. */
  tracing: TracingSettings | null;
  /** How stdout announces that the service is ready: one JSON object, or a banner for a person. */
  announce: 'json' | 'banner';
  /** Requests a second of one key (HTTP-12). Null: no limit. */
  rateLimitPerSecond: number | null;
  /** What one workspace may have, over all nodes, unless it has a limit of its own (HTTP-27); null: no limit. */
  workspaceLimits: Omit<WorkspaceLimits, 'subscriptions'>;
  /** Operations of one workspace that may be accepted and not ended, over all nodes (HTTP-13). */
  workspaceOperations: number;
  /** Subscriptions of one workspace over all nodes, of one connection, and of one connection to one destination (HTTP-13). */
  workspaceSubscriptions: number;
  connectionSubscriptions: number;
  destinationSubscriptions: number;
  /** Requests of one workspace that may be under way at this node (HTTP-13). */
  workspaceRequests: number;
  /** Open connections of clients. Null: derived from the limit of descriptors. */
  httpConnections: number | null;
  /** Memory for the bodies of all requests, in MiB (HTTP-13). */
  bodyMemoryMib: number;
  /** Null: the browser is searched for. */
  browserPath: string | null;
  /** Read by `browser-pool/chromium/install.ts`, before the service is started. */
  browserInstall: Settings['BROWSER_INSTALL'];
  /** Whether a browser may run without its sandbox (POOL-20). */
  browserSandbox: Settings['BROWSER_SANDBOX'];
  /** Absolute. Null: no screenshots or traces are made. */
  browserArtifactsDir: string | null;
}

/** A variable that cannot be used. The message is one line and never shows the value of a secret; exit status 2. */
export class ConfigError extends Error {}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads the service's variables from `env`; variables it does not know are left alone.
 * @throws ConfigError naming the first variable that cannot be used
 */
export function readConfig(
  env: Environment,
  machine: Machine = { cores: availableParallelism(), terminal: process.stderr.isTTY === true },
): Config {
  const settings = readSettings(env, machine);
  return {
    host: settings.HOST,
    port: settings.PORT,
    dataDir: settings.DATA_DIR,
    databaseUrl: settings.DATABASE_URL,
    encryptionKeys: settings.ENCRYPTION_KEYS,
    gateway: gateway(settings),
    publicUrl: settings.PUBLIC_URL,
    keyExpiryWarningDays: settings.KEY_EXPIRY_WARNING_DAYS,
    trustedProxies: settings.TRUSTED_PROXIES ?? [],
    retention: retention(settings),
    provider: settings.PROVIDER,
    providerByDefault: !env.PROVIDER,
    sandboxControlPort: settings.SANDBOX_CONTROL_PORT,
    actorThreads: settings.ACTOR_THREADS,
    browserThreads: settings.BROWSER_THREADS,
    browserContexts: settings.BROWSER_CONTEXTS,
    deliveryConcurrency: settings.DELIVERY_CONCURRENCY,
    deliveryWorkspacePercent: settings.DELIVERY_WORKSPACE_PERCENT,
    callbackAllowedNetworks: settings.CALLBACK_ALLOWED_NETWORKS,
    callbackAllowedEndpoints: [],
    callbackPorts: settings.CALLBACK_PORTS,
    callbackVerification: settings.CALLBACK_VERIFICATION,
    callbackCaFile: settings.CALLBACK_CA_FILE,
    callbackDnsServers: settings.CALLBACK_DNS_SERVERS,
    metricsHost: settings.METRICS_HOST,
    metricsPort: settings.METRICS_PORT,
    log: { level: settings.LOG_LEVEL, format: settings.LOG_FORMAT, sample: settings.LOG_SAMPLE },
    tracing: tracing(settings),
    announce: env.LOG_FORMAT === 'json' ? 'json' : 'banner',
    rateLimitPerSecond: settings.RATE_LIMIT_PER_SECOND,
    workspaceLimits: {
      requests_per_second: settings.WORKSPACE_REQUESTS_PER_SECOND,
      submissions_per_second: settings.WORKSPACE_SUBMISSIONS_PER_SECOND,
      connections: settings.WORKSPACE_CONNECTIONS,
      stored_mib: settings.WORKSPACE_STORED_MIB,
    },
    workspaceOperations: settings.WORKSPACE_OPERATIONS,
    workspaceSubscriptions: settings.WORKSPACE_SUBSCRIPTIONS,
    connectionSubscriptions: settings.CONNECTION_SUBSCRIPTIONS,
    destinationSubscriptions: settings.DESTINATION_SUBSCRIPTIONS,
    workspaceRequests: settings.WORKSPACE_REQUESTS,
    httpConnections: settings.HTTP_CONNECTIONS,
    bodyMemoryMib: settings.BODY_MEMORY_MIB,
    browserPath: settings.BROWSER_PATH,
    browserInstall: settings.BROWSER_INSTALL,
    browserSandbox: settings.BROWSER_SANDBOX,
    browserArtifactsDir: settings.BROWSER_ARTIFACTS_DIR,
  };
}

/** Spans are made once it is known where they go; the exporter reads the address from the environment again, as it does its other variables. */
function tracing(settings: Settings): TracingSettings | null {
  const endpoint = settings.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? settings.OTEL_EXPORTER_OTLP_ENDPOINT;
  return endpoint === null ? null : { share: settings.OTEL_TRACES_SAMPLER_ARG };
}

function retention(settings: Settings): RetentionDays {
  return {
    gaps: settings.RETENTION_GAPS_DAYS,
    attempts: settings.RETENTION_ATTEMPTS_DAYS,
    deliveries: settings.RETENTION_DELIVERIES_DAYS,
    events: settings.RETENTION_EVENTS_DAYS,
    inputs: settings.RETENTION_INPUTS_DAYS,
    results: settings.RETENTION_RESULTS_DAYS,
    operations: settings.RETENTION_OPERATIONS_DAYS,
    tombstones: settings.RETENTION_TOMBSTONES_DAYS,
  };
}

function readSettings(env: Environment, machine: Machine): Settings {
  const entries = Object.entries(VARIABLES) as [VariableName, Variable][];
  // Each value was parsed by its own variable, which the type is made of.
  return Object.fromEntries(entries.map(([name, one]) => [name, read(name, one, env[name], machine)])) as Settings;
}

function read(name: VariableName, variable: Variable, value: string | undefined, machine: Machine): unknown {
  const usual = typeof variable.default === 'function' ? variable.default(machine) : variable.default;
  const text = value === undefined || value.trim() === '' ? usual : value;
  if (text === null) return null;
  try {
    return variable.parse(text);
  } catch (error) {
    throw error instanceof Unusable ? refusal(name, text, error) : error;
  }
}

const SECRETS: ReadonlySet<string> = new Set(secretNames('settings'));

function refusal(name: VariableName, text: string, { why, part }: Unusable): ConfigError {
  const has = SECRETS.has(name) ? 'a value that cannot be used' : JSON.stringify(part ?? text);
  return new ConfigError(`${name} has ${has}${why ? ` (${why})` : ''}, it wants ${VARIABLES[name].wants}`);
}

function gateway({ GATEWAY_CLIENT_ID: clientId, GATEWAY_CLIENT_SECRET: clientSecret }: Settings): Config['gateway'] {
  if (clientId !== null && clientSecret !== null) return { clientId, clientSecret };
  if (clientId !== null) throw notSet('GATEWAY_CLIENT_SECRET');
  if (clientSecret !== null) throw notSet('GATEWAY_CLIENT_ID');
  return null;
}

function notSet(name: VariableName): ConfigError {
  return new ConfigError(`${name} is not set, it wants ${VARIABLES[name].wants}`);
}
