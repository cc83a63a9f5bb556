import { accessSync, constants, readFileSync, statSync } from 'node:fs';
import { isIP } from 'node:net';
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import ipaddr from 'ipaddr.js';
import typia, { type tags } from 'typia';
import { type EncryptionKey, parseEncryptionKeys } from '../../storage/secrets/encryption.js';

/**
 * What the environment says, read once at start. Two read it besides: the HTTP library's bound of headers
 * (`http/socket.ts`), and the look for a browser (`browser-pool/find-browser.ts`).
 */
export interface Config {
  host: string;
  /** 0 takes a free one. */
  port: number;
  /** Absolute. Holds the embedded database, the generated keys and the stand-in network's state. */
  dataDir: string;
  /** Null: the embedded database in `dataDir`. */
  databaseUrl: string | null;
  /** Null: none was given. `loadEncryptionKeys` decides what that means. */
  encryptionKeys: EncryptionKey[] | null;
  /** Set: the service is hosted behind a gateway, and every request must carry both headers (HTTP-11). */
  gateway: { clientId: string; clientSecret: string } | null;
  /** The stand-in network, or the absolute path of a site description. */
  provider: { kind: 'sandbox' } | { kind: 'site'; file: string };
  sandboxControlPort: number;
  actorThreads: number;
  browserThreads: number;
  /** Warm browser contexts a browser thread keeps at most. */
  browserContexts: number;
  /** Callback attempts in flight at most, shared out among the actor threads. */
  deliveryConcurrency: number;
  /** CIDRs that callbacks may reach although they are not public (EVT-2). Null: none was given. */
  callbackAllowedNetworks: string[] | null;
  /** PEM file of a CA trusted for callbacks beside the public ones. Null: none was given. */
  callbackCaFile: string | null;
  /** Name servers, `address` or `address:port`, that alone are asked for the hosts of callbacks. Null: the machine's resolver. */
  callbackDnsServers: string[] | null;
  metricsPort: number;
  log: { level: LogLevel; format: LogFormat };
  /** How stdout says that the service is ready: one JSON object, or a banner for a person. */
  announce: 'json' | 'banner';
  /** Requests a second of one key (HTTP-12). Null: no limit. */
  rateLimitPerSecond: number | null;
  /** Null: the browser is looked for. */
  browserPath: string | null;
  /** Absolute. Where screenshots and traces of failed page programs go. Null: none are made. */
  browserArtifactsDir: string | null;
}

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';
export type LogFormat = 'json' | 'pretty';

/** A variable that cannot be used. The message is one line and never shows the value of a secret; exit status 2. */
export class ConfigError extends Error {}

type Int<Min extends number, Max extends number> = number & tags.Type<'uint32'> & tags.Minimum<Min> & tags.Maximum<Max>;

/** The variables, by name, as typia checks them; whole numbers are numbers by then, and defaults are filled in. */
interface Settings {
  HOST: string;
  PORT: Int<0, 65535>;
  DATA_DIR: string;
  DATABASE_URL: (string & tags.Pattern<'^postgres(ql)?://.+'>) | null;
  ENCRYPTION_KEYS: string | null;
  GATEWAY_CLIENT_ID: string | null;
  GATEWAY_CLIENT_SECRET: string | null;
  PROVIDER: string;
  SANDBOX_CONTROL_PORT: Int<0, 65535>;
  ACTOR_THREADS: Int<1, 64>;
  BROWSER_THREADS: Int<1, 64>;
  BROWSER_CONTEXTS: Int<1, 2000>;
  DELIVERY_CONCURRENCY: Int<1, 10000>;
  CALLBACK_ALLOWED_NETWORKS: string | null;
  CALLBACK_CA_FILE: string | null;
  CALLBACK_DNS_SERVERS: string | null;
  METRICS_PORT: Int<0, 65535>;
  LOG_LEVEL: LogLevel;
  LOG_FORMAT: LogFormat;
  RATE_LIMIT_PER_SECOND: Int<1, 1000000> | null;
  BROWSER_PATH: string | null;
  BROWSER_ARTIFACTS_DIR: string | null;
}
type Name = keyof Settings;

const PORT_WANTED = 'a port from 0 to 65535 (0 takes a free one)';
const PAIR_WANTED = 'to be set together with the other of GATEWAY_CLIENT_ID and GATEWAY_CLIENT_SECRET, or not at all';

/** What each variable wants, in words for the one line of a ConfigError. */
const WANTED: Record<Name, string> = {
  HOST: 'an address to listen on',
  PORT: PORT_WANTED,
  DATA_DIR: 'a folder',
  DATABASE_URL: 'postgres://user:password@host:port/database',
  ENCRYPTION_KEYS: 'id:base64 of 32 bytes, several separated by commas',
  GATEWAY_CLIENT_ID: PAIR_WANTED,
  GATEWAY_CLIENT_SECRET: PAIR_WANTED,
  PROVIDER: '"sandbox" or the path of a readable site description',
  SANDBOX_CONTROL_PORT: PORT_WANTED,
  ACTOR_THREADS: 'a whole number from 1 to 64',
  BROWSER_THREADS: 'a whole number from 1 to 64',
  BROWSER_CONTEXTS: 'a whole number from 1 to 2000',
  DELIVERY_CONCURRENCY: 'a whole number from 1 to 10000',
  CALLBACK_ALLOWED_NETWORKS: 'networks such as 127.0.0.0/8, several separated by commas',
  CALLBACK_CA_FILE: 'a readable PEM file with a certificate',
  CALLBACK_DNS_SERVERS: 'addresses such as 9.9.9.9 or [2620:fe::fe]:53, several separated by commas',
  METRICS_PORT: PORT_WANTED,
  LOG_LEVEL: 'trace, debug, info, warn, error, fatal or silent',
  LOG_FORMAT: 'json or pretty',
  RATE_LIMIT_PER_SECOND: 'a whole number from 1 to 1000000',
  BROWSER_PATH: 'a readable browser executable',
  BROWSER_ARTIFACTS_DIR: 'a folder',
};

const SECRET: ReadonlySet<Name> = new Set([
  'DATABASE_URL',
  'ENCRYPTION_KEYS',
  'GATEWAY_CLIENT_ID',
  'GATEWAY_CLIENT_SECRET',
]);

/** Variables left out or empty take these; `terminal`: the log is read by a person. */
function defaults(cores: number, terminal: boolean): Settings {
  return {
    HOST: '127.0.0.1',
    PORT: 8080,
    DATA_DIR: '.data',
    DATABASE_URL: null,
    ENCRYPTION_KEYS: null,
    GATEWAY_CLIENT_ID: null,
    GATEWAY_CLIENT_SECRET: null,
    PROVIDER: 'sandbox',
    SANDBOX_CONTROL_PORT: 0,
    // The edge takes a core of its own; past eight threads PostgreSQL is what a node waits for.
    ACTOR_THREADS: Math.min(8, Math.max(1, cores - 1)),
    // A browser is several processes: one thread keeps two cores busy.
    BROWSER_THREADS: Math.max(1, Math.floor(cores / 2)),
    BROWSER_CONTEXTS: 200,
    // Waiting for receivers costs a socket each and hardly any processor.
    DELIVERY_CONCURRENCY: 128,
    CALLBACK_ALLOWED_NETWORKS: null,
    CALLBACK_CA_FILE: null,
    CALLBACK_DNS_SERVERS: null,
    METRICS_PORT: 9090,
    LOG_LEVEL: 'info',
    LOG_FORMAT: terminal ? 'pretty' : 'json',
    RATE_LIMIT_PER_SECOND: null,
    BROWSER_PATH: null,
    BROWSER_ARTIFACTS_DIR: null,
  };
}

/**
 * Reads the service's variables from `env`; variables it does not know are left alone.
 * @throws ConfigError naming the first variable that cannot be used
 */
export function readConfig(
  env: Readonly<Record<string, string | undefined>>,
  machine = { cores: availableParallelism(), terminal: process.stderr.isTTY === true },
): Config {
  const settings = validated(env, defaults(machine.cores, machine.terminal));
  return {
    host: settings.HOST,
    port: settings.PORT,
    dataDir: resolve(settings.DATA_DIR),
    databaseUrl: settings.DATABASE_URL,
    encryptionKeys: encryptionKeys(settings),
    gateway: gateway(settings),
    provider:
      settings.PROVIDER === 'sandbox' ? { kind: 'sandbox' } : { kind: 'site', file: readable(settings, 'PROVIDER') },
    sandboxControlPort: settings.SANDBOX_CONTROL_PORT,
    actorThreads: settings.ACTOR_THREADS,
    browserThreads: settings.BROWSER_THREADS,
    browserContexts: settings.BROWSER_CONTEXTS,
    deliveryConcurrency: settings.DELIVERY_CONCURRENCY,
    callbackAllowedNetworks: networks(settings),
    callbackCaFile: settings.CALLBACK_CA_FILE === null ? null : certificateFile(settings),
    callbackDnsServers: dnsServers(settings),
    metricsPort: settings.METRICS_PORT,
    log: { level: settings.LOG_LEVEL, format: settings.LOG_FORMAT },
    announce: env.LOG_FORMAT === 'json' ? 'json' : 'banner',
    rateLimitPerSecond: settings.RATE_LIMIT_PER_SECOND,
    browserPath: settings.BROWSER_PATH === null ? null : readable(settings, 'BROWSER_PATH'),
    browserArtifactsDir: settings.BROWSER_ARTIFACTS_DIR === null ? null : resolve(settings.BROWSER_ARTIFACTS_DIR),
  };
}

function validated(env: Readonly<Record<string, string | undefined>>, settings: Settings): Settings {
  const given: Record<string, unknown> = { ...settings };
  for (const name of Object.keys(settings) as Name[]) {
    const text = env[name];
    if (text === undefined || text.trim() === '') continue;
    // Only plain decimals become numbers, so that typia refuses `1e3`, `0x10` and ` 8 `.
    given[name] = /^\d{1,9}$/.test(text) && WHOLE_NUMBERS.has(name) ? Number(text) : text;
  }
  const checked = typia.validate<Settings>(given);
  if (checked.success) return checked.data;
  const name = checked.errors[0]?.path.replace('$input.', '') as Name;
  throw refusal(name, env[name]);
}

const WHOLE_NUMBERS: ReadonlySet<string> = new Set<Name>([
  'PORT',
  'SANDBOX_CONTROL_PORT',
  'ACTOR_THREADS',
  'BROWSER_THREADS',
  'BROWSER_CONTEXTS',
  'DELIVERY_CONCURRENCY',
  'METRICS_PORT',
  'RATE_LIMIT_PER_SECOND',
]);

function refusal(name: Name, value: unknown, why?: string): ConfigError {
  const has = SECRET.has(name) ? 'a value that cannot be used' : JSON.stringify(value ?? null);
  return new ConfigError(`${name} has ${has}${why ? ` (${why})` : ''}, it wants ${WANTED[name]}`);
}

function encryptionKeys(settings: Settings): EncryptionKey[] | null {
  if (settings.ENCRYPTION_KEYS === null) return null;
  try {
    return parseEncryptionKeys(settings.ENCRYPTION_KEYS);
  } catch (error) {
    throw refusal('ENCRYPTION_KEYS', null, (error as Error).message);
  }
}

function gateway(settings: Settings): Config['gateway'] {
  const { GATEWAY_CLIENT_ID: clientId, GATEWAY_CLIENT_SECRET: clientSecret } = settings;
  if (clientId !== null && clientSecret !== null) return { clientId, clientSecret };
  if (clientId !== null) throw new ConfigError(`GATEWAY_CLIENT_SECRET is not set, it wants ${PAIR_WANTED}`);
  if (clientSecret !== null) throw new ConfigError(`GATEWAY_CLIENT_ID is not set, it wants ${PAIR_WANTED}`);
  return null;
}

function networks(settings: Settings): string[] | null {
  const list = settings.CALLBACK_ALLOWED_NETWORKS?.split(',').map((cidr) => cidr.trim()) ?? null;
  const wrong = list?.find((cidr) => !ipaddr.isValidCIDR(cidr));
  if (wrong !== undefined) throw refusal('CALLBACK_ALLOWED_NETWORKS', wrong);
  return list;
}

function dnsServers(settings: Settings): string[] | null {
  const list = settings.CALLBACK_DNS_SERVERS?.split(',').map((server) => server.trim()) ?? null;
  const wrong = list?.find((server) => !isNameServer(server));
  if (wrong !== undefined) throw refusal('CALLBACK_DNS_SERVERS', wrong);
  return list;
}

/** True for `address` and `address:port`, an IPv6 address in brackets. Looked at closely: port 0 ends Node's process. */
function isNameServer(text: string): boolean {
  if (!URL.canParse(`dns://${text}`)) return false;
  const { host, hostname, port } = new URL(`dns://${text}`);
  return host === text && port !== '0' && isIP(hostname.replace(/^\[|\]$/g, '')) !== 0;
}

function certificateFile(settings: Settings): string {
  const file = readable(settings, 'CALLBACK_CA_FILE');
  if (readFileSync(file, 'utf8').includes('-----BEGIN CERTIFICATE-----')) return file;
  throw refusal('CALLBACK_CA_FILE', settings.CALLBACK_CA_FILE, 'no certificate in it');
}

/** The absolute path of the file that the variable names; a ConfigError when it is not a file one can read. */
function readable(settings: Settings, name: 'PROVIDER' | 'CALLBACK_CA_FILE' | 'BROWSER_PATH'): string {
  const file = resolve(settings[name] ?? '');
  try {
    accessSync(file, constants.R_OK);
    if (statSync(file).isFile()) return file;
  } catch {
    // told below, in words that name the variable
  }
  throw refusal(name, settings[name]);
}
