import { statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import t from 'tap';
import { type Config, ConfigError, readConfig } from '../../../../server/start/settings/config.js';
import { loadEncryptionKeys } from '../../../../server/start/settings/encryption-keys.js';

const machine = { cores: 4, terminal: false };
const read = (env: Record<string, string>): Config => readConfig(env, machine);
const KEY = `one:${Buffer.alloc(32, 1).toString('base64')}`;

t.test('an empty environment gives the defaults of the machine', async (t) => {
  t.match(read({}), {
    host: '127.0.0.1',
    port: 8080,
    dataDir: resolve('.data'),
    databaseUrl: null,
    encryptionKeys: null,
    gateway: null,
    provider: { kind: 'sandbox' },
    actorThreads: 3,
    browserThreads: 2,
    callbackAllowedNetworks: null,
    callbackDnsServers: null,
    metricsHost: '127.0.0.1',
    metricsPort: 9090,
    log: { level: 'info', format: 'json' },
    announce: 'banner',
    rateLimitPerSecond: null,
    workspaceLimits: { requests_per_second: null, submissions_per_second: null, connections: null },
    workspaceOperations: 500_000,
    workspaceRequests: 5_000,
    bodyMemoryMib: 256,
    httpConnections: null,
    retention: { gaps: null, attempts: null, deliveries: null, events: null, operations: null, tombstones: null },
  });
  t.equal(readConfig({}, { cores: 1, terminal: false }).actorThreads, 1, 'one core still gets a thread');
  t.equal(readConfig({}, { cores: 96, terminal: false }).actorThreads, 8, 'threads are capped');
  t.equal(readConfig({}, { cores: 4, terminal: true }).log.format, 'pretty');
});

t.test('what is given is taken, and unknown variables are left alone', async (t) => {
  const config = read({
    PORT: '0',
    DATABASE_URL: 'postgres://u:p@db/x',
    ENCRYPTION_KEYS: KEY,
    GATEWAY_CLIENT_ID: 'id',
    GATEWAY_CLIENT_SECRET: 'secret',
    ACTOR_THREADS: '12',
    CALLBACK_ALLOWED_NETWORKS: '127.0.0.0/8, ::1/128',
    CALLBACK_DNS_SERVERS: '127.0.0.1:5353, [::1]:53,9.9.9.9',
    LOG_FORMAT: 'json',
    RATE_LIMIT_PER_SECOND: '50',
    WORKSPACE_REQUESTS_PER_SECOND: '200',
    WORKSPACE_SUBMISSIONS_PER_SECOND: '20',
    WORKSPACE_CONNECTIONS: '10',
    WORKSPACE_OPERATIONS: '1000',
    WORKSPACE_REQUESTS: '10',
    BODY_MEMORY_MIB: '64',
    HTTP_CONNECTIONS: '2000',
    RETENTION_EVENTS_DAYS: '30',
    RETENTION_GAPS_DAYS: '1',
    HOST: '',
    SOMETHING_ELSE: 'x',
  });
  t.match(config, {
    host: '127.0.0.1',
    port: 0,
    databaseUrl: 'postgres://u:p@db/x',
    encryptionKeys: [{ id: 'one' }],
    gateway: { clientId: 'id', clientSecret: 'secret' },
    actorThreads: 12,
    callbackAllowedNetworks: ['127.0.0.0/8', '::1/128'],
    callbackDnsServers: ['127.0.0.1:5353', '[::1]:53', '9.9.9.9'],
    announce: 'json',
    rateLimitPerSecond: 50,
    workspaceLimits: { requests_per_second: 200, submissions_per_second: 20, connections: 10 },
    workspaceOperations: 1000,
    workspaceRequests: 10,
    bodyMemoryMib: 64,
    httpConnections: 2000,
    retention: { gaps: 1, attempts: null, deliveries: null, events: 30, operations: null, tombstones: null },
  });
});

t.test('pages on which people give passwords are on TLS, or on this machine', async (t) => {
  for (const url of [
    'https://connections.example.com',
    'http://localhost:8080',
    'http://127.0.0.1',
    'http://[::1]:8080',
  ])
    t.equal(read({ PUBLIC_URL: url }).publicUrl, url);
});

t.test('a value that cannot be used is one line that names the variable, the value and what is wanted', async (t) => {
  const refused: [Record<string, string>, RegExp][] = [
    [{ PORT: 'http' }, /^PORT has "http", it wants a port from 0 to 65535/],
    [{ PORT: '65536' }, /^PORT has "65536"/],
    [{ PORT: '1e3' }, /^PORT has "1e3"/],
    [{ METRICS_PORT: '-1' }, /^METRICS_PORT has "-1"/],
    [{ ACTOR_THREADS: '0' }, /^ACTOR_THREADS has "0", it wants a whole number from 1 to 64$/],
    [{ BROWSER_THREADS: '1.5' }, /^BROWSER_THREADS/],
    [{ LOG_LEVEL: 'loud' }, /^LOG_LEVEL has "loud", it wants trace, debug/],
    [{ LOG_SAMPLE: '10%' }, /^LOG_SAMPLE has "10%", it wants a number from 0 to 1$/],
    [{ LOG_SAMPLE: '1.5' }, /^LOG_SAMPLE has "1.5"/],
    [{ OTEL_TRACES_SAMPLER_ARG: 'half' }, /^OTEL_TRACES_SAMPLER_ARG has "half"/],
    [{ LOG_FORMAT: 'xml' }, /^LOG_FORMAT has "xml", it wants json or pretty$/],
    [{ RATE_LIMIT_PER_SECOND: '0' }, /^RATE_LIMIT_PER_SECOND/],
    [
      { WORKSPACE_REQUESTS_PER_SECOND: '1.5' },
      /^WORKSPACE_REQUESTS_PER_SECOND has "1.5", it wants a whole number from 1 to 1000000$/,
    ],
    [{ WORKSPACE_SUBMISSIONS_PER_SECOND: '0' }, /^WORKSPACE_SUBMISSIONS_PER_SECOND has "0"/],
    [{ WORKSPACE_CONNECTIONS: '-1' }, /^WORKSPACE_CONNECTIONS has "-1"/],
    [{ HTTP_CONNECTIONS: '0' }, /^HTTP_CONNECTIONS/],
    [{ RETENTION_EVENTS_DAYS: '0' }, /^RETENTION_EVENTS_DAYS has "0", it wants a whole number from 1 to 36500$/],
    [{ RETENTION_GAPS_DAYS: '30d' }, /^RETENTION_GAPS_DAYS has "30d"/],
    [{ BODY_MEMORY_MIB: '7' }, /^BODY_MEMORY_MIB/],
    [{ PROVIDER: '/no/such/site.js' }, /^PROVIDER has "\/no\/such\/site.js", it wants "sandbox" or the path/],
    [{ PUBLIC_URL: 'http://connections.example.com' }, /^PUBLIC_URL has .*; http:\/\/ for this machine alone$/],
    [{ PUBLIC_URL: 'http://127.0.0.1.example.com' }, /^PUBLIC_URL/],
    [{ PUBLIC_URL: 'https://connections.example.com/path' }, /^PUBLIC_URL/],
    [{ BROWSER_PATH: '/' }, /^BROWSER_PATH has "\/"/],
    [{ BROWSER_INSTALL: 'apt' }, /^BROWSER_INSTALL has "apt", it wants auto or off$/],
    [{ BROWSER_SANDBOX: 'maybe' }, /^BROWSER_SANDBOX has "maybe"/],
    [{ CALLBACK_ALLOWED_NETWORKS: '127.0.0.1' }, /^CALLBACK_ALLOWED_NETWORKS has "127.0.0.1"/],
    [{ CALLBACK_CA_FILE: 'package.json' }, /^CALLBACK_CA_FILE has "package.json" \(no certificate in it\)/],
    [{ CALLBACK_DNS_SERVERS: 'dns.example' }, /^CALLBACK_DNS_SERVERS has "dns.example", it wants addresses such as/],
    [{ CALLBACK_DNS_SERVERS: '9.9.9.9,127.0.0.1:0' }, /^CALLBACK_DNS_SERVERS has "127.0.0.1:0"/],
    [{ CALLBACK_DNS_SERVERS: '127.0.0.1:65536' }, /^CALLBACK_DNS_SERVERS has "127.0.0.1:65536"/],
    [{ CALLBACK_DNS_SERVERS: '::1' }, /^CALLBACK_DNS_SERVERS has "::1"/],
    [{ CALLBACK_DNS_SERVERS: '9.9.9.9/32' }, /^CALLBACK_DNS_SERVERS has "9.9.9.9\/32"/],
    [{ CALLBACK_DNS_SERVERS: '9.9.9.9,' }, /^CALLBACK_DNS_SERVERS has ""/],
    [{ METRICS_HOST: 'localhost' }, /^METRICS_HOST has "localhost", it wants an IP address such as/],
    [{ GATEWAY_CLIENT_ID: 'id' }, /^GATEWAY_CLIENT_SECRET is not set, it wants to be set together/],
    [{ GATEWAY_CLIENT_SECRET: 's' }, /^GATEWAY_CLIENT_ID is not set/],
  ];
  for (const [env, line] of refused) {
    const error = t.throws(() => read(env), { message: line }) as unknown as Error;
    t.ok(error instanceof ConfigError);
    t.notMatch(error.message, /\n/);
  }
});

t.test('a refusal never shows the value of a secret', async (t) => {
  for (const env of [
    { DATABASE_URL: 'mysql://user:hunter2@db' },
    { ENCRYPTION_KEYS: 'one:hunter2' },
    { ENCRYPTION_KEYS: 'hunter2' },
    { ENCRYPTION_KEYS: `${KEY},${KEY}` },
    { GATEWAY_CLIENT_SECRET: 'hunter2' },
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'me:hunter2@collector:4318' },
    { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://me:hunter2@:port' },
  ]) {
    const error = t.throws(() => read(env)) as unknown as Error;
    t.notMatch(error.message, /hunter2|AQEBAQ/);
    t.match(error.message, new RegExp(`^(${Object.keys(env)[0]}|GATEWAY_CLIENT_ID)`));
  }
});

t.test('keys: given ones win, the embedded database makes its own once, another database has none', async (t) => {
  const dataDir = t.testdir();
  const given = await loadEncryptionKeys(read({ ENCRYPTION_KEYS: KEY, DATA_DIR: dataDir }));
  t.equal(given[0]?.id, 'one');
  const [first, twin] = await Promise.all([
    loadEncryptionKeys(read({ DATA_DIR: dataDir })),
    loadEncryptionKeys(read({ DATA_DIR: dataDir })),
  ]);
  t.same(first, twin, 'two that start together agree');
  t.same(await loadEncryptionKeys(read({ DATA_DIR: dataDir })), first, 'and so does the next start');
  const file = join(dataDir, 'encryption-keys');
  t.equal(statSync(file).mode & 0o777, 0o600);
  t.same(await loadEncryptionKeys(read({ DATABASE_URL: 'postgres://db/x', DATA_DIR: dataDir })), []);
  writeFileSync(file, 'damaged');
  await t.rejects(loadEncryptionKeys(read({ DATA_DIR: dataDir })), { message: /cannot be used/ });
});
