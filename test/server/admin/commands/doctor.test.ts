import t, { type Test } from 'tap';
import type { PostgresServer } from '../../../../bench/kit/postgres/server.js';
import { adminProgram } from '../../../../server/admin/program.js';
import type { Finding } from '../../../../storage/postgres/server-checks/inspect.js';
import { dataFolder } from '../../../fixture/data-folder.js';
import { startPgBouncer } from '../../../fixture/pgbouncer.js';
import { failedStart } from '../../../fixture/service.js';
import { longTest } from '../../../fixture/size.js';
import { stockPostgres } from '../../../fixture/stock-postgres.js';
import { startTlsPostgres } from '../../../fixture/tls-postgres.js';

interface Examined {
  starts: boolean;
  status: number;
  /** By check: what is not as it should be. */
  told: Record<string, Pick<Finding, 'level' | 'found'>>;
}

/** What the command says of an address, whose every finding that is not well has a meaning and an action. */
async function examine(t: Test, url: string): Promise<Examined> {
  const { text, status } = await adminProgram({ DATABASE_URL: url, ACTOR_THREADS: '1' }, ['doctor']);
  const { starts, findings } = JSON.parse(text) as { starts: boolean; findings: Finding[] };
  const unwell = findings.filter(({ level }) => level !== 'ok');
  for (const { check, means, action } of unwell) t.ok(means && action, `${check}: what it means and what to do`);
  const told = Object.fromEntries(unwell.map(({ check, level, found }) => [check, { level, found }]));
  return { starts, status, told };
}

/** A start on the address is refused as the command says, in one line that names the variable. */
async function refused(t: Test, url: string, line: RegExp): Promise<void> {
  const dataDir = await dataFolder(t);
  const { status, stderr } = await failedStart({
    DATABASE_URL: url,
    DATA_DIR: dataDir,
    PORT: '0',
    METRICS_PORT: '0',
    LOG_LEVEL: 'fatal',
  });
  t.equal(status, 1);
  t.match(stderr, line);
  t.equal(stderr.trim().split('\n').length, 1, 'one line');
  t.notMatch(stderr, new URL(url).password, 'without the password');
}

/** One server with its defaults for all that changes nothing in it; each test has a database of its own. */
const stock = stockPostgres(t);
let databases = 0;

async function owned(server?: PostgresServer) {
  const on = server ?? (await stock);
  const name = `service${databases++}`;
  return { server: on, name, url: await on.createOwner(name) };
}

t.test('a stock server and a role that owns its database: all is well', async (t) => {
  const { url, server, name } = await owned();
  const { starts, status, told } = await examine(t, url);
  t.strictSame({ starts, status, told }, { starts: true, status: 0, told: {} });
  const { text } = await adminProgram({ DATABASE_URL: url }, ['doctor', '--table']);
  t.match(text, /^ok {7}version {13}PostgreSQL 15/, 'a table for people');
  const tables = await server.run(`select from pg_tables where schemaname = 'public'`, name);
  t.equal(tables.rowCount, 0, 'looking makes nothing');
});

longTest(t, 'settings that are turned: overruled by sessions, or a warning', async (t) => {
  const settings = { fsync: 'off', autovacuum: 'off', log_statement: 'all' };
  const { server, name, url } = await owned(await stockPostgres(t, { settings }));
  await server.run(`alter role ${name} set jit = on`);
  await server.run(`alter database ${name} set DateStyle = 'German'`);
  const { starts, told } = await examine(t, `${url}?options=-c%20statement_timeout%3D77s`);
  t.ok(starts);
  t.match(told, {
    fsync: { level: 'warning', found: 'fsync = off' },
    autovacuum: { level: 'warning', found: 'autovacuum = off' },
    'statement log': { level: 'warning', found: /log_statement = all/ },
    'overruled settings': { level: 'note' },
  });
  for (const turned of [
    /jit = on \(user\)/,
    /DateStyle = German, DMY \(database\)/,
    /statement_timeout = 77s \(client\)/,
  ]) {
    t.match(told['overruled settings']?.found, turned);
  }
  t.strictSame(Object.keys(told).sort(), ['autovacuum', 'fsync', 'overruled settings', 'statement log']);
});

longTest(t, 'roles: read-only, without rights, with too few connections, a superuser', async (t) => {
  const { server, name, url } = await owned();
  await server.run(`alter role ${name} set default_transaction_read_only = on`);
  t.match(await examine(t, url), { starts: false, status: 1, told: { 'read-only': { level: 'refused' } } });
  await refused(t, url, /^DATABASE_URL: transactions of the role service\d are read-only: reset/);
  await server.run(`alter role ${name} reset default_transaction_read_only`);
  await server.run(`alter role ${name} connection limit 7`);
  t.match(await examine(t, url), {
    starts: true,
    told: { connections: { level: 'warning', found: /^7 for this role/ } },
  });
  await server.run(`create role guest login password 'of the guest'`);
  const guest = new URL(url);
  guest.username = 'guest';
  guest.password = 'of the guest';
  t.match(await examine(t, guest.href), {
    starts: false,
    told: { rights: { level: 'refused', found: /may make no tables/ } },
  });
  await refused(
    t,
    guest.href,
    /^DATABASE_URL: the role guest may make no tables in service\d: make the role the owner/,
  );
  t.match(await examine(t, server.url), { starts: true, told: { superuser: { level: 'warning' } } });
});

longTest(t, 'a standby is refused, and told apart from its primary', async (t) => {
  const { server, url } = await owned();
  const standby: PostgresServer = await stockPostgres(t, { standbyOf: server });
  const there = new URL(url);
  there.port = String(standby.port);
  t.match(await examine(t, there.href), { starts: false, told: { standby: { level: 'refused' } } });
  await refused(t, there.href, /^DATABASE_URL: the server is a standby: give the address of the primary/);
  t.match(await examine(t, url), { starts: true, told: {} });
});

longTest(t, 'another encoding is refused', async (t) => {
  const { server, name, url } = await owned();
  await server.run(`drop database ${name}`);
  await server.run(`create database ${name} owner ${name} encoding 'LATIN1' template template0`);
  t.match(await examine(t, url), { starts: false, told: { encoding: { level: 'refused' } } });
  await refused(
    t,
    url,
    /^DATABASE_URL: the database service\d has the encoding LATIN1: make the database with encoding 'UTF8'/,
  );
});

longTest(t, 'PostgreSQL 14 is refused', async (t) => {
  const { url } = await owned(await stockPostgres(t, { version: 14 }));
  t.match(await examine(t, url), { starts: false, told: { version: { level: 'refused', found: /^PostgreSQL 14/ } } });
  await refused(t, url, /^DATABASE_URL: PostgreSQL 14\.\d+.*: use PostgreSQL 15 to 18/);
});

longTest(t, 'PgBouncer: session mode is noted, transaction mode refused', async (t) => {
  const { url: serverUrl } = await owned();
  const session = await startPgBouncer(t, { serverUrl, mode: 'session' });
  t.match(await examine(t, session.url), { starts: true, told: { pooler: { level: 'note', found: /session mode/ } } });
  for (const settings of [{}, { default_pool_size: '1' }]) {
    const transaction = await startPgBouncer(t, { serverUrl, mode: 'transaction', settings });
    t.match(await examine(t, transaction.url), { starts: false, told: { pooler: { level: 'refused' } } });
    await refused(t, transaction.url, /^DATABASE_URL: a pooler in transaction mode answers: set pool_mode to session/);
    await transaction.stop();
  }
});

longTest(t, 'TLS is seen, and an authority that is not trusted is one line', async (t) => {
  const { url, distrusting } = await startTlsPostgres(t);
  t.match(await examine(t, url), { starts: true, told: {} });
  await refused(
    t,
    distrusting,
    /^DATABASE_URL: the database does not answer \(.*certificate.*\); start it or correct the address/,
  );
});

t.test('an address that nobody answers is an error of the command, with one line', async (t) => {
  const nobody = 'postgres://service:secret@127.0.0.1:1/service';
  await t.rejects(adminProgram({ DATABASE_URL: nobody }, ['doctor']), {
    message: /^DATABASE_URL: the database does not answer/,
  });
});
