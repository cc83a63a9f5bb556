import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import t, { type Test } from 'tap';
import { postgresBinaries } from '../../bench/kit/postgres/binaries.js';
import { type DatabaseChoice, databaseChoice } from '../../bench/kit/postgres/choice.js';
import { type PostgresServer, startPostgres } from '../../bench/kit/postgres/server.js';
import { eventually } from '../fixture/eventually.js';

/** The server of a run with this choice. */
async function serverOf(t: Test, choice: DatabaseChoice, restart_ms?: number): Promise<PostgresServer> {
  if (choice === 'embedded') throw new Error('the embedded database is no server of a run');
  const folder = await mkdtemp(join(tmpdir(), 'postgres-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const server = await startPostgres({
    ...{ binaries: await postgresBinaries(choice), folder },
    ...(restart_ms !== undefined && { restart_ms }),
  });
  t.teardown(() => server[Symbol.asyncDispose]());
  return server;
}

t.test('DATABASE takes embedded, or a version that the service supports', async (t) => {
  for (const embedded of [undefined, '', 'embedded']) t.equal(databaseChoice(embedded), 'embedded');
  for (const version of [15, 16, 17, 18]) t.equal(databaseChoice(String(version)), version);
  for (const other of ['14', '15.1', 'postgres', ' 15', 'postgres://localhost/service']) {
    t.throws(() => databaseChoice(other), { message: /^DATABASE takes embedded, 15, 16, 17, 18: .+$/ });
  }
});

t.test('a server of a run has default settings, and the owner of its database is no superuser', async (t) => {
  const server = await serverOf(t, databaseChoice('15'));
  const { rows } = await server.run(
    `select name, current_setting(name) as value, source from pg_settings
     where name = any('{jit,shared_buffers,fsync,max_wal_size,max_connections,server_version}')
       or source = 'command line' order by name`,
  );
  const settings = Object.fromEntries(rows.map(({ name, value }) => [name, value]));
  const { server_version, port, unix_socket_directories, ...others } = settings;
  t.match(server_version, /^15\./);
  t.equal(port, String(server.port));
  t.type(unix_socket_directories, 'string');
  t.same(
    others,
    { fsync: 'on', jit: 'on', max_connections: '100', max_wal_size: '1GB', shared_buffers: '128MB' },
    'nothing else is set on its command line',
  );

  const owner = new pg.Client({ connectionString: await server.createOwner('service') });
  await owner.connect();
  t.teardown(() => owner.end());
  const { rows: roles } = await owner.query(
    `select rolname, rolsuper, rolcreaterole, rolcreatedb, rolreplication, rolbypassrls,
       (select datdba from pg_database where datname = current_database()) = r.oid as owns
     from pg_roles r where rolname = current_user`,
  );
  const nothingElse = { rolsuper: false, rolcreaterole: false, rolcreatedb: false, rolreplication: false };
  t.same(roles, [{ rolname: 'service', ...nothingElse, rolbypassrls: false, owns: true }]);
});

t.test('a server that is to be started again is, until it is ended', async (t) => {
  const server = await serverOf(t, databaseChoice('15'), 100);
  const before = server.pid;
  process.kill(before, 'SIGQUIT');
  await eventually(
    'another process answers',
    async () =>
      server.pid !== before &&
      server.run('select 1').then(
        () => true,
        () => false,
      ),
    Boolean,
  );
  await server.kill();
  await t.rejects(server.run('select 1'), { code: 'ECONNREFUSED' });
  await server.start();
  t.same((await server.run('select 1 as one')).rows, [{ one: 1 }], 'what was killed can be started');
  await server.stop();
  await t.rejects(server.run('select 1'), { code: 'ECONNREFUSED' });
});
