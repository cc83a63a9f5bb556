import { type EncryptionKey, parseEncryptionKeys } from '../../../storage/secrets/encryption.js';
import {
  address,
  certificateFile,
  databaseAddress,
  folder,
  httpAddress,
  type Kind,
  nameServers,
  networks,
  oneOf,
  origin,
  port,
  ports,
  readableFile,
  share,
  text,
  Unusable,
  wholeNumber,
} from './kinds.js';

/** What the defaults of some variables depend on. */
export interface Machine {
  cores: number;
  /** Standard error is a terminal: a person reads the log. */
  terminal: boolean;
}

type Default = string | null | ((machine: Machine) => string);

/** One variable: what it takes, what it is when it is left out or blank, and what it does. */
export interface Variable<T = unknown, D extends Default = Default> extends Kind<T> {
  /** As an operator would write it; null: the variable stays unset. */
  default: D;
  /** The default in words, where it is not a plain value. */
  defaultInWords?: string;
  /** Ends the row of the table in `server/REFERENCE.md`. */
  meaning: string;
}

/** Keeps the types of one variable: of its value, and whether it can stay unset. */
const variable = <T, const D extends Default>(one: Variable<T, D>): Variable<T, D> => one;

const GATEWAY_PAIR = text(
  'to be set together with the other of GATEWAY_CLIENT_ID and GATEWAY_CLIENT_SECRET, or not at all',
);
const SITE_FILE = readableFile('"sandbox" or the path of a readable site description');

const encryptionKeys: Kind<EncryptionKey[]> = {
  wants: 'id:base64 of 32 bytes, several separated by commas',
  parse(text) {
    try {
      return parseEncryptionKeys(text);
    } catch (error) {
      throw new Unusable((error as Error).message);
    }
  },
};

/** A stand-in network of the node's own, or the absolute path of a description: of a site, or of a network that nodes share. */
export type ProviderSetting = { kind: 'sandbox' } | { kind: 'site'; file: string };

const provider: Kind<ProviderSetting> = {
  wants: SITE_FILE.wants,
  parse: (text) => (text === 'sandbox' ? { kind: 'sandbox' } : { kind: 'site', file: SITE_FILE.parse(text) }),
};

/** A hundred years at most; all nodes erase for the whole installation. */
const retentionDays = {
  ...wholeNumber(1, 36_500),
  default: null,
  defaultInWords: 'they stay; to be the same on every node',
} as const;

/** Every variable of the environment that the service reads, in the order of the table in `server/REFERENCE.md`. */
export const VARIABLES = {
  HOST: variable({
    ...text('an address to listen on'),
    default: '127.0.0.1',
    meaning: 'address on which the API listens',
  }),
  PORT: variable({ ...port, default: '8080', meaning: 'port on which the API listens' }),
  DATA_DIR: variable({
    ...folder,
    default: '.data',
    meaning: "holds the embedded database, generated keys and the stand-in network's state",
  }),
  DATABASE_URL: variable({
    ...databaseAddress,
    default: null,
    defaultInWords: 'the embedded database',
    meaning: 'a PostgreSQL to use instead of the embedded one',
  }),
  ENCRYPTION_KEYS: variable({
    ...encryptionKeys,
    default: null,
    defaultInWords: 'generated for the embedded database; else none',
    meaning:
      'keys of secrets at rest: the first one encrypts, all of them decrypt; a new one comes last at first (Operate)',
  }),
  GATEWAY_CLIENT_ID: variable({
    ...GATEWAY_PAIR,
    default: null,
    meaning: 'every request must carry it as Gateway-Access-Client-Id, and a named User-Agent',
  }),
  GATEWAY_CLIENT_SECRET: variable({
    ...GATEWAY_PAIR,
    default: null,
    meaning: 'every request must carry it as Gateway-Access-Client-Secret',
  }),
  PUBLIC_URL: variable({
    ...origin,
    default: null,
    meaning:
      'where browsers find the service: reconnect links lead there, and there are none without it; with https the cookie of the console is sent over TLS alone',
  }),
  TRUSTED_PROXIES: variable({
    ...networks,
    default: null,
    meaning:
      'networks of the proxies before the service: where a request comes from is what they say in X-Forwarded-For',
  }),
  KEY_EXPIRY_WARNING_DAYS: variable({
    ...wholeNumber(0, 365),
    default: '14',
    meaning:
      'how many days before a key expires its answers (Key-Expires), the console and what needs attention tell of it; 0: never',
  }),
  RATE_LIMIT_PER_SECOND: variable({
    ...wholeNumber(1, 1_000_000),
    default: null,
    meaning: 'requests a second of one key at each node: N nodes take N times as many; more are answered 429',
  }),
  WORKSPACE_REQUESTS_PER_SECOND: variable({
    ...wholeNumber(1, 1_000_000),
    default: null,
    meaning:
      'requests a second of one workspace, over all nodes; more are answered 429; to be the same on every node; `admin limit set` for one of them',
  }),
  WORKSPACE_SUBMISSIONS_PER_SECOND: variable({
    ...wholeNumber(1, 1_000_000),
    default: null,
    meaning:
      'submissions a second of one workspace, over all nodes; more are answered 429; to be the same on every node; `admin limit set` for one of them',
  }),
  WORKSPACE_CONNECTIONS: variable({
    ...wholeNumber(1, 100_000_000),
    default: null,
    meaning:
      'connections of one workspace, over all nodes; more are answered 409; to be the same on every node; `admin limit set` for one of them',
  }),
  WORKSPACE_STORED_MIB: variable({
    ...wholeNumber(1, 100_000_000),
    default: '10240',
    meaning:
      'MiB that the operations of one workspace and its entries of the audit log take; more are answered 409, and files past it fail; to be the same on every node; `admin limit set` for one of them',
  }),
  WORKSPACE_OPERATIONS: variable({
    ...wholeNumber(1, 100_000_000),
    // A hundred bytes each in memory; two minutes of submissions at the rate of a small machine.
    default: '500000',
    meaning:
      'operations of one workspace that have not ended, over all nodes; more are answered 503; to be the same on every node',
  }),
  WORKSPACE_SUBSCRIPTIONS: variable({
    ...wholeNumber(1, 100_000_000),
    default: '100000',
    meaning:
      'subscriptions of one workspace, over all nodes; more are answered 409; to be the same on every node; `admin limit set` for one of them',
  }),
  CONNECTION_SUBSCRIPTIONS: variable({
    ...wholeNumber(1, 1_000_000),
    default: '1000',
    meaning: 'subscriptions of one connection; more are answered 409; to be the same on every node',
  }),
  DESTINATION_SUBSCRIPTIONS: variable({
    ...wholeNumber(1, 1_000_000),
    // Each of its events is sent there as many times.
    default: '100',
    meaning:
      'subscriptions of one connection to one host and port; more are answered 409; to be the same on every node',
  }),
  WORKSPACE_REQUESTS: variable({
    ...wholeNumber(1, 1_000_000),
    default: '5000',
    meaning:
      'requests of one workspace under way at a node, waits among them; more are answered 503; to be the same on every node',
  }),
  HTTP_CONNECTIONS: variable({
    ...wholeNumber(1, 1_000_000),
    default: null,
    defaultInWords: "what the process's limit of descriptors leaves, at most 50000",
    meaning: 'open connections of clients at a node; more are closed as they come',
  }),
  BODY_MEMORY_MIB: variable({
    ...wholeNumber(8, 1_000_000),
    default: '256',
    meaning: 'memory for the bodies of all requests at a node, in MiB; what goes beyond it is answered 503',
  }),
  RETENTION_EVENTS_DAYS: variable({
    ...retentionDays,
    meaning:
      'after how many days events are erased, with their deliveries; one with a delivery that has not ended stays',
  }),
  RETENTION_DELIVERIES_DAYS: variable({
    ...retentionDays,
    meaning: 'after how many days deliveries that have ended are erased, with their attempts; by the age of the event',
  }),
  RETENTION_ATTEMPTS_DAYS: variable({
    ...retentionDays,
    meaning: 'after how many days attempts of deliveries that have ended are erased; their deliveries keep the number',
  }),
  RETENTION_INPUTS_DAYS: variable({
    ...retentionDays,
    meaning:
      'after how many days the inputs of operations that have ended are erased, the operations stay; of an unknown outcome once it was looked for',
  }),
  RETENTION_RESULTS_DAYS: variable({
    ...retentionDays,
    meaning:
      'after how many days the results of operations that have ended are erased, with their files; the operations stay',
  }),
  RETENTION_OPERATIONS_DAYS: variable({
    ...retentionDays,
    meaning: 'after how many days operations that have ended are erased; of their keys a hash stays, and they conflict',
  }),
  RETENTION_TOMBSTONES_DAYS: variable({
    ...retentionDays,
    meaning: 'after how many more days such a hash is erased; its key is a new one then, and would send again',
  }),
  RETENTION_GAPS_DAYS: variable({
    ...retentionDays,
    meaning: 'after how many days closed gaps of streams are erased',
  }),
  PROVIDER: variable({
    ...provider,
    default: 'sandbox',
    meaning: 'the site of `social` connections; nodes share a network by its `provider.json`',
  }),
  SANDBOX_CONTROL_PORT: variable({ ...port, default: '0', meaning: "port of the stand-in network's control API" }),
  ACTOR_THREADS: variable({
    ...wholeNumber(1, 64),
    // The edge takes a core of its own; past eight threads PostgreSQL is what a node waits for.
    default: ({ cores }) => String(Math.min(8, Math.max(1, cores - 1))),
    defaultInWords: 'one less than the cores, from 1 to 8',
    meaning: 'threads that run operations',
  }),
  BROWSER_THREADS: variable({
    ...wholeNumber(1, 64),
    // A browser is several processes: one thread keeps two cores busy.
    default: ({ cores }) => String(Math.max(1, Math.floor(cores / 2))),
    defaultInWords: 'half the cores, at least 1',
    meaning: 'threads with a Chromium each',
  }),
  BROWSER_CONTEXTS: variable({ ...wholeNumber(1, 2000), default: '200', meaning: 'warm sessions a browser keeps' }),
  BROWSER_PATH: variable({
    ...readableFile('a readable browser executable'),
    default: null,
    defaultInWords: 'searched for',
    meaning: 'the browser to use',
  }),
  BROWSER_INSTALL: variable({
    ...oneOf('auto', 'off'),
    default: 'auto',
    meaning: 'whether `npm start` gets a browser where there is none: a download, else as root a package of the system',
  }),
  BROWSER_SANDBOX: variable({
    ...oneOf('auto', 'on', 'off'),
    default: 'auto',
    meaning:
      "Chromium's sandbox: `on` starts no browser without, `auto` warns where it cannot be had, `off` warns always",
  }),
  BROWSER_ARTIFACTS_DIR: variable({
    ...folder,
    default: null,
    meaning: 'screenshots and traces of failed runs: no passwords or codes, but cookies and page contents',
  }),
  DELIVERY_CONCURRENCY: variable({
    ...wholeNumber(1, 10_000),
    // Waiting for receivers costs a socket each and hardly any processor.
    default: '128',
    meaning: 'callback attempts in flight',
  }),
  DELIVERY_WORKSPACE_PERCENT: variable({
    ...wholeNumber(1, 100),
    // Of one workspace whose receivers all stall, the others would get a slot once in 15 seconds.
    default: '75',
    meaning: 'of these, what one workspace may have at most, in percent; to be the same on every node',
  }),
  CALLBACK_ALLOWED_NETWORKS: variable({
    ...networks,
    default: null,
    meaning: 'networks that callbacks may reach although they are not public',
  }),
  CALLBACK_PORTS: variable({
    ...ports,
    default: '443,8443',
    meaning: 'ports of public addresses that callbacks may use; those of `CALLBACK_ALLOWED_NETWORKS` may use any',
  }),
  CALLBACK_VERIFICATION: variable({
    ...oneOf('off', 'required'),
    default: 'off',
    meaning: '`required`: an address gets callbacks once it has answered a challenge, and nothing else before',
  }),
  CALLBACK_CA_FILE: variable({
    ...certificateFile,
    default: null,
    meaning: 'a CA that callbacks are trusted under beside the public ones',
  }),
  CALLBACK_DNS_SERVERS: variable({
    ...nameServers,
    default: null,
    defaultInWords: "the machine's resolver",
    meaning: 'the only name servers asked for the hosts of callbacks',
  }),
  METRICS_HOST: variable({
    ...address,
    default: '127.0.0.1',
    meaning: 'address on which `/metrics`, `/readyz` and `/livez` are served, to whoever reaches it',
  }),
  METRICS_PORT: variable({
    ...port,
    default: '9090',
    meaning: 'port there for `/metrics` (Prometheus), `/readyz` and `/livez`',
  }),
  LOG_LEVEL: variable({
    ...oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'),
    default: 'info',
    meaning: 'the least severe lines that are logged, on stderr',
  }),
  LOG_SAMPLE: variable({
    ...share,
    default: '1',
    meaning: 'share of the lines of requests and ends of operations that went well; the others are always logged',
  }),
  LOG_FORMAT: variable({
    ...oneOf('json', 'pretty'),
    default: ({ terminal }) => (terminal ? 'pretty' : 'json'),
    defaultInWords: '`pretty` on a terminal, else `json`',
    meaning: 'set to `json`, it also makes stdout one ready line: `{"ready":true,"url":…}`',
  }),
  OTEL_EXPORTER_OTLP_ENDPOINT: variable({
    ...httpAddress,
    default: null,
    meaning: 'where spans of requests, operations and callbacks go, by OTLP over HTTP; unset, none are made',
  }),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: variable({
    ...httpAddress,
    default: null,
    meaning: 'the same as a whole address, without `v1/traces` added',
  }),
  OTEL_TRACES_SAMPLER_ARG: variable({
    ...share,
    default: '1',
    meaning: "share of the traces that begin here; of those that a caller's `traceparent` names, its flag decides",
  }),
};

export type VariableName = keyof typeof VARIABLES;

/** The values of all variables, by name. */
export type Settings = {
  [N in VariableName]: (typeof VARIABLES)[N] extends Variable<infer T, infer D>
    ? D extends null
      ? T | null
      : T
    : never;
};
