import { chmod, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import t, { type Test } from 'tap';
import { connectDatabase, type DatabaseServer } from '../../../../storage/postgres/embedded/embedded.js';
import { migrate } from '../../../../storage/schema/migrate.js';
import { dataFolder } from '../../../fixture/data-folder.js';
import { freshDatabase } from '../../../fixture/database.js';
import { longTest } from '../../../fixture/size.js';
import { startSuperuserDatabase } from '../../../fixture/superuser-database.js';

const settings = ['fsync=off', 'shared_buffers=32MB'];

async function on<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** What runs programs, reads or writes files of the machine, or gives itself the right to. */
const FORBIDDEN = [
  `copy word from program 'id'`,
  `copy word to program 'cat'`,
  `copy word from '/etc/passwd'`,
  `copy word to '/tmp/word'`,
  `select pg_read_file('/etc/passwd')`,
  `select pg_read_file('PG_VERSION')`,
  `select pg_ls_dir('/')`,
  `select pg_stat_file('/etc/passwd')`,
  `select lo_import('/etc/passwd')`,
  `select lo_export(0, '/tmp/word')`,
  `alter system set archive_command = 'id'`,
  `select pg_reload_conf()`,
  'create extension plpython3u',
  'create extension file_fdw',
  'create extension dblink',
  'create extension adminpack',
  `create function word_c() returns int as 'libc', 'system' language c`,
  `load '/tmp/word.so'`,
  `select set_config('dynamic_library_path', '/tmp', false)`,
  `select set_config('session_preload_libraries', 'x', false)`,
  'create role other superuser',
  'create role other',
  'create database other',
  'alter role current_user superuser',
  'alter role current_user bypassrls',
  'alter role current_user replication',
  `alter role postgres password 'word'`,
  'set role postgres',
  'set session authorization postgres',
  'grant pg_execute_server_program to current_user',
  'grant pg_read_server_files to current_user',
  'grant pg_write_server_files to current_user',
  'select rolpassword from pg_authid',
];

async function refusesAll(t: Test, url: string): Promise<void> {
  await on(url, async (client) => {
    await client.query('create table if not exists word (text text)');
    for (const statement of FORBIDDEN) {
      const alone = /^(alter system|create database)/.test(statement); // not in a transaction
      if (!alone) await client.query('begin');
      const code = await client.query(statement).then(
        () => 'it was done',
        (error: pg.DatabaseError) => error.code,
      );
      if (!alone) await client.query('rollback');
      // 58P01, 0A000: the extension is not there to be made, whoever asks.
      t.match(code, /^(42501|58P01|0A000)$/, statement);
    }
    const { rows } = await client.query(
      `select rolsuper, rolcreaterole, rolcreatedb, rolreplication, rolbypassrls, rolname = 'postgres' as is_postgres,
         pg_has_role(oid, 'pg_execute_server_program', 'member') or pg_has_role(oid, 'pg_read_server_files', 'member')
           or pg_has_role(oid, 'pg_write_server_files', 'member') as reaches_machine
       from pg_roles where rolname = current_user`,
    );
    t.strictSame(
      Object.entries(rows[0]).filter(([, value]) => value !== false),
      [],
      'a role without any power',
    );
  });
}

/** Whether the password in the folder, or one of the address, lets anyone in as the superuser. */
async function superuserGetsIn(url: string, dataDir: string): Promise<boolean> {
  const address = new URL(url);
  const passwords = [decodeURIComponent(address.password), await readFile(join(dataDir, 'postgres-password'), 'utf8')];
  address.username = 'postgres';
  for (const password of ['', 'postgres', 'password', ...passwords]) {
    address.password = encodeURIComponent(password);
    const entered = await on(address.href, async () => true).catch(() => false);
    if (entered) return true;
  }
  return false;
}

t.test('through the service’s own connection no program runs, no file is read, and no right is gained', async (t) => {
  const dataDir = await dataFolder(t);
  const server = await connectDatabase({ dataDir, exclusive: true, settings });
  try {
    await migrate(server.url);
    t.strictSame(server.findings, []);
    await refusesAll(t, server.url);
    t.notOk(await superuserGetsIn(server.url, dataDir), 'no password that the service can read is the superuser’s');
    for (const name of await readdir(dataDir)) {
      const { mode } = await stat(join(dataDir, name));
      t.equal(mode & 0o077, 0, `${name} is its owner’s alone`);
    }
  } finally {
    await server.stop();
  }
  const again = await connectDatabase({ dataDir, exclusive: true, settings });
  try {
    await migrate(again.url);
    await refusesAll(t, again.url);
  } finally {
    await again.stop();
  }
});

t.test('a folder that was put in place with rights for others becomes its owner’s alone', async (t) => {
  const dataDir = await dataFolder(t);
  const start = async () => {
    const server = await connectDatabase({ dataDir, exclusive: true, settings });
    const told = await on(server.url, (client) => client.query('select 1 as told')).finally(() => server.stop());
    return told.rows;
  };
  await start();
  // PostgreSQL refuses such a folder. Root repairs it when it gives it to the user `postgres`; another user has to do so.
  if (process.getuid?.() === 0) await chmod(join(dataDir, 'postgres'), 0o755);
  t.strictSame(await start(), [{ told: 1 }]);
  t.equal((await stat(join(dataDir, 'postgres'))).mode & 0o077, 0);
});

t.test('the role is set up once, and anew for another password', async (t) => {
  const dataDir = await dataFolder(t);
  const note = join(dataDir, 'postgres', 'service-role');
  const started = async () => {
    const server = await connectDatabase({ dataDir, exclusive: true, settings });
    try {
      await on(server.url, (client) => client.query('select 1'));
      const { ino, mtimeMs } = await stat(note);
      return { noted: await readFile(note, 'utf8'), written: `${ino} ${mtimeMs}` };
    } finally {
      await server.stop();
    }
  };
  const first = await started();
  t.strictSame(await started(), first, 'a second start has nothing to set up');
  await rm(join(dataDir, 'postgres-password'));
  const other = await started();
  t.not(other.noted, first.noted, 'the password that was made in place of the lost one lets the service in');
});

longTest(t, 'a restored database, the superuser’s with rows, becomes the service’s, and stays it', async (t) => {
  const dataDir = await dataFolder(t);
  const former = await startSuperuserDatabase(dataDir);
  await migrate(former.url);
  const before = await on(former.url, async (client) => {
    await client.query(`insert into workspace (id, name) values (gen_random_uuid(), 'kept')`);
    await client.query(`create table of_before (id bigserial primary key, at timestamptz not null default now())`);
    await client.query(`create type mood as enum ('good', 'bad')`);
    await client.query(`create domain positive as int check (value > 0)`);
    await client.query(`create view seen as select id from of_before`);
    await client.query(`create materialized view seen_once as select id from of_before`);
    await client.query(`create sequence counter`);
    await client.query(`create function one() returns int language sql as 'select 1'`);
    await client.query(`create procedure nothing() language sql as 'select 1'`);
    await client.query(`create schema "of ""before"`);
    await client.query(`create table "of ""before".split (id int) partition by range (id)`);
    await client.query(`create table "of ""before".part partition of "of ""before".split for values from (0) to (10)`);
    await client.query('create extension pg_trgm');
    await client.query('create database of_its_own');
    return (await client.query('select count(*)::int as queues from pgboss.queue')).rows[0].queues;
  });
  await former.stop();

  for (const start of ['first', 'second']) {
    const server = await connectDatabase({ dataDir, exclusive: true, settings });
    try {
      await migrate(server.url);
      await on(server.url, async (client) => {
        const { rows } = await client.query(`select name from workspace`);
        t.strictSame(rows, [{ name: 'kept' }], `${start} start: the rows are there`);
        const { rows: queues } = await client.query('select count(*)::int as queues from pgboss.queue');
        t.equal(queues[0].queues, before);
        t.strictSame((await client.query(FOREIGN)).rows, [], `${start} start: nothing is another’s`);
        // What a migration to come may do.
        await client.query('alter table of_before add column if not exists more text');
        await client.query('create table pgboss.word (text text)');
        await client.query('drop table pgboss.word');
        await client.query(`create or replace function one() returns int language sql as 'select 2'`);
      });
      await refusesAll(t, server.url);
      t.notOk(await superuserGetsIn(server.url, dataDir), 'the password of before is the superuser’s no more');
    } finally {
      await server.stop();
    }
  }
});

/** What belongs to somebody else than the one who asks, but for the system's own and what extensions brought. */
const FOREIGN = `
  with own as (select oid from pg_namespace where nspname not like 'pg\\_%' and nspname <> 'information_schema')
  select kind, name from (
    select 'relation' as kind, oid::regclass::text as name, relowner as owner, oid, 'pg_class'::regclass as classid
      from pg_class where relnamespace in (select oid from own)
    union all select 'function', oid::regprocedure::text, proowner, oid, 'pg_proc'::regclass
      from pg_proc where pronamespace in (select oid from own)
    union all select 'type', oid::regtype::text, typowner, oid, 'pg_type'::regclass
      from pg_type where typnamespace in (select oid from own)
    union all select 'schema', nspname, nspowner, oid, 'pg_namespace'::regclass from pg_namespace where oid in (select oid from own)
      and nspowner <> 'pg_database_owner'::regrole
    union all select 'database', datname, datdba, oid, 'pg_database'::regclass from pg_database where not datistemplate
  ) thing where owner <> current_user::regrole
    and not exists (select from pg_depend d where d.classid = thing.classid and d.objid = thing.oid and d.deptype = 'e')`;

/** False when the process has ended by itself before. */
function wasKilled(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL');
  } catch {
    return false;
  }
}

longTest(
  t,
  'a start that is killed while it gives the database away leaves what the next one can go on with',
  async (t) => {
    const dataDir = await dataFolder(t);
    const former = await startSuperuserDatabase(dataDir);
    await migrate(former.url);
    await on(former.url, (client) =>
      client.query(`insert into workspace (id, name) values (gen_random_uuid(), 'kept')`),
    );
    await former.stop();
    let killed = 0;
    let kills = 0;
    for (let start = 0; start < 20 && kills < 3; start++) {
      let ended = false;
      const started = connectDatabase({ dataDir, exclusive: true, settings })
        .then(
          (server) => server.stop(),
          () => {},
        )
        .finally(() => {
          ended = true;
        });
      // The lock file has a negative number in single-user mode; that of a process which was killed stays.
      let pid = 0;
      while (!ended && (pid === 0 || pid === killed)) {
        const lock = await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').catch(() => '');
        pid = Number.parseInt(lock, 10) || 0;
      }
      if (pid < 0 && pid !== killed && wasKilled(-pid)) {
        killed = pid;
        kills++;
      }
      await started;
    }
    t.ok(kills > 0);
    const server = await connectDatabase({ dataDir, exclusive: true, settings });
    try {
      await migrate(server.url);
      await on(server.url, async (client) => {
        t.strictSame((await client.query(`select name from workspace`)).rows, [{ name: 'kept' }]);
        t.strictSame((await client.query(FOREIGN)).rows, []);
      });
      await refusesAll(t, server.url);
      t.notOk(await superuserGetsIn(server.url, dataDir));
    } finally {
      await server.stop();
    }
  },
);

longTest(t, 'a password that was lost, or written by halves, is made anew at the next start', async (t) => {
  const dataDir = await dataFolder(t);
  const file = join(dataDir, 'postgres-password');
  const passwords = new Set<string>();
  for (const harm of [() => writeFile(file, 'half'), () => rm(file), async () => {}]) {
    const server = await connectDatabase({ dataDir, exclusive: true, settings });
    t.equal(await on(server.url, async () => 'in'), 'in');
    passwords.add(new URL(server.url).password);
    await server.stop();
    await harm();
  }
  t.equal(passwords.size, 3);
});

t.test('the database that the suite runs on is used by a role that reaches nothing but it', async (t) => {
  const { db } = await freshDatabase(t);
  const [role] = await db.query<{ rolsuper: boolean }>(
    'testRole',
    'select rolsuper from pg_roles where rolname = current_user',
  );
  t.equal(role?.rolsuper, false);
});

longTest(t, 'of a database that is given it is told whether its role is a superuser', async (t) => {
  const dataDir = await dataFolder(t);
  const former = await startSuperuserDatabase(dataDir);
  t.teardown(() => former.stop());
  const given = await connectDatabase({ databaseUrl: former.url, dataDir, exclusive: true });
  const superuser = (server: DatabaseServer) => server.findings.find(({ check }) => check === 'superuser')?.level;
  t.equal(superuser(given), 'warning');
  const { url } = await freshDatabase(t);
  const other = await connectDatabase({ databaseUrl: url, dataDir, exclusive: true });
  t.equal(superuser(other), 'ok');
});
