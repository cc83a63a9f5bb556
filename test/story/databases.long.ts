import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { parse } from 'yaml';
import { postgresBinaries } from '../../bench/kit/postgres/binaries.js';
import { pgBouncerFiles, startPgBouncer } from '../fixture/pgbouncer.js';
import { failedStart, serviceSettings } from '../fixture/service.js';
import { stockPostgres } from '../fixture/stock-postgres.js';
import { startTlsPostgres } from '../fixture/tls-postgres.js';
import { shortStory } from './short-story.js';

/* The databases that operators have: each runs the service, or ends its start with one line that names what is wrong with the address. */

const COMPOSE = join(import.meta.dirname, '../../../compose.yaml');

/** A start on this address ends with this status and exactly one line, which matches. */
async function refused(t: Test, databaseUrl: string, line: RegExp, expected = 1): Promise<void> {
  const { status, stderr } = await failedStart(await serviceSettings(t, databaseUrl));
  t.equal(status, expected, stderr);
  t.match(stderr, line);
  t.equal(stderr.trim().split('\n').length, 1, 'one line');
}

/** The folders with psql: Debian's client comes with its server. */
const binaries = await postgresBinaries(15);
const path = [dirname(binaries.postgres), ...(process.env.PATH ?? '').split(delimiter)];
const withoutPsql = path.some((folder) => existsSync(join(folder, 'psql'))) ? false : 'psql is not here';

t.test('the database of compose.yaml, made by the script as it stands there', { skip: withoutPsql }, async (t) => {
  const values: Record<string, string> = { SERVICE_PASSWORD: 'b7e1', ENCRYPTION_KEYS: 'x', POSTGRES_PASSWORD: 'x' };
  const text = readFileSync(COMPOSE, 'utf8').replace(
    /\$\{(\w+)(?::-(\w*)|:\?)\}/g,
    (_, name, usual = '') => values[name] ?? usual,
  );
  const file = parse(text, { merge: true });
  t.match(file.services.database, { image: /^postgres:18-/, configs: [{ source: 'role', target: /\.sh$/ }] });
  const server = await stockPostgres(t, { version: 18 });
  const { port, password } = new URL(server.url);
  const script = file.configs.role.content.replaceAll('$$', '$');
  await promisify(execFile)('bash', ['--norc', '-euc', script], {
    env: {
      PATH: path.join(delimiter),
      ...{ PGHOST: '127.0.0.1', PGPORT: port, PGUSER: 'postgres', PGPASSWORD: password },
      SERVICE_PASSWORD: values.SERVICE_PASSWORD,
    },
  });
  const { DATABASE_URL } = file.services.node1.environment;
  const address = DATABASE_URL.replace('@database:5432/', `@127.0.0.1:${port}/`);
  t.not(address, DATABASE_URL);
  await shortStory(t, address);
});

t.test('a server that is trusted by its certificate, and one that is not', async (t) => {
  const { url, distrusting } = await startTlsPostgres(t);
  await shortStory(t, url);
  await refused(t, distrusting, /^DATABASE_URL: .*certificate/);
});

const server = await stockPostgres(t, { settings: { unix_socket_directories: tmpdir() } });

t.test('an address of several hosts is refused', async (t) => {
  const hosts = `127.0.0.1:${server.port},127.0.0.1:${server.port}`;
  await refused(t, `postgres://service:secret@${hosts}/service`, /^DATABASE_URL has .*several hosts/, 2);
});

t.test('a socket in a folder, a password of every printable character, settings all turned, and options', async (t) => {
  const password = String.fromCharCode(...Array.from({ length: 95 }, (_, n) => 32 + n));
  await server.createOwner('turned', password);
  for (const setting of [`DateStyle = 'German'`, `IntervalStyle = 'iso_8601'`, `TimeZone = 'Asia/Kathmandu'`]) {
    await server.run(`alter database turned set ${setting}`);
  }
  for (const setting of [
    `bytea_output = 'escape'`,
    'jit_above_cost = 0',
    `default_transaction_isolation = 'serializable'`,
  ]) {
    await server.run(`alter role turned set ${setting}`);
  }
  const encoded = [...password].map((one) => `%${one.charCodeAt(0).toString(16)}`).join('');
  const options = encodeURIComponent('-c search_path=public -c enable_indexscan=off');
  await shortStory(t, `postgres://turned:${encoded}@/turned?host=${tmpdir()}&port=${server.port}&options=${options}`);
});

const pooler = await pgBouncerFiles();
const withoutPooler = 'missing' in pooler ? pooler.missing : false;

t.test('PgBouncer that keeps a connection for a session', { skip: withoutPooler }, async (t) => {
  const serverUrl = await server.createOwner('sessions');
  const { url } = await startPgBouncer(t, { serverUrl, mode: 'session' });
  await shortStory(t, url);
});

t.test('PgBouncer that keeps one for a transaction only is refused', { skip: withoutPooler }, async (t) => {
  const serverUrl = await server.createOwner('transactions');
  const { url } = await startPgBouncer(t, { serverUrl, mode: 'transaction' });
  await refused(t, url, /^DATABASE_URL: .*transaction/);
});
