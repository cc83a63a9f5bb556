import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import t from 'tap';
import { forgetClientVariables } from '../../../../storage/postgres/database-environment.js';
import { connectDatabase } from '../../../../storage/postgres/embedded/embedded.js';
import type { Running } from '../../../../storage/postgres/embedded/embedded-server.js';
import { isLocked } from '../../../../storage/process/file-lock.js';
import { dataFolder } from '../../../fixture/data-folder.js';
import { eventually } from '../../../fixture/eventually.js';
import { longTest } from '../../../fixture/size.js';

const IN_USE = { message: /^DATA_DIR: .* is in use by another running service$/ };

/** What the service that answers at this address sees of a row that only it has. */
async function ask(url: string, statement: string): Promise<unknown> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<{ told: unknown }>(statement)).rows[0]?.told;
  } finally {
    await client.end();
  }
}

t.test('a folder in use is refused whatever its files say, and nobody is signalled', async (t) => {
  const signalled: string[] = [];
  const note = (signal: string) => void signalled.push(signal);
  process.on('SIGINT', note);
  t.teardown(() => process.off('SIGINT', note));
  const dataDir = await dataFolder(t);
  const file = join(dataDir, 'running.json');
  // As a restored copy of the folder has it, or one whose machine was started anew: another process has the number.
  const stale = { keeper: 999_999_999, postmaster: process.pid };
  await writeFile(file, JSON.stringify({ url: 'postgres://127.0.0.1:1/gone', ...stale }));
  const server = await connectDatabase({ dataDir, exclusive: true });
  t.teardown(() => server.stop());
  await ask(server.url, `create table mark as select 'live' as told`);
  const running = JSON.parse(await readFile(file, 'utf8')) as Running;
  // As another container sees it, with which the folder is shared: its processes have other numbers.
  await writeFile(file, JSON.stringify({ ...running, ...stale }));
  await t.rejects(connectDatabase({ dataDir, exclusive: true }), IN_USE, 'by numbers that are not its own');
  const shared = await connectDatabase({ dataDir, exclusive: false });
  t.equal(await ask(shared.url, 'select told from mark'), 'live', 'a command reaches the database that runs');
  await writeFile(file, JSON.stringify({ ...running, ...stale, url: 'postgres://127.0.0.1:1/gone' }));
  await t.rejects(connectDatabase({ dataDir, exclusive: false }), {
    message: /^DATA_DIR: .* cannot be reached from here: run the command where that service runs$/,
  });
  t.strictSame(signalled, []);
});

longTest(t, 'a database that lost its keeper is stopped, and the folder used again', async (t) => {
  const dataDir = await dataFolder(t);
  const first = await connectDatabase({ dataDir, exclusive: true });
  await ask(first.url, `create table mark as select 'kept' as told`);
  const { keeper } = JSON.parse(await readFile(join(dataDir, 'running.json'), 'utf8')) as Running;
  process.kill(keeper, 'SIGKILL');
  await eventually(
    'the keeper is gone',
    () => readFile(`/proc/${keeper}/stat`, 'utf8').catch(() => 'Z'),
    (stat) => /(?:^|\) )Z/.test(stat),
  );
  t.equal(isLocked(join(dataDir, 'lock')), true, 'PostgreSQL itself holds the folder');
  const again = await connectDatabase({ dataDir, exclusive: true });
  t.teardown(() => again.stop());
  t.equal(await ask(again.url, 'select told from mark'), 'kept');
});

longTest(t, 'the embedded database and its clients take nothing from the shell, and any folder will do', async (t) => {
  const shell = {
    ...{ LANG: 'xx_XX.UTF-8', LC_ALL: 'xx_XX.UTF-8', LC_COLLATE: 'yy' },
    ...{ PGSSLMODE: 'require', PGOPTIONS: '-c no_such=1', PGHOST: 'nowhere.test', PGPORT: '1', PGUSER: 'nobody' },
    ...{ PGDATA: '/nowhere', PGTZ: 'nowhere', PGCLIENTENCODING: 'LATIN9' },
  };
  const before = { ...process.env };
  Object.assign(process.env, shell);
  t.teardown(() => {
    for (const name of Object.keys(shell)) delete process.env[name];
    Object.assign(process.env, before);
  });
  forgetClientVariables();
  const dataDir = join(await dataFolder(t), "jürgen's own #1 100% app");
  const server = await connectDatabase({ dataDir, exclusive: true });
  t.teardown(() => server.stop());
  t.equal(await ask(server.url, `select lower('ÄẞÉ') || case when 'a' > 'B' then '<' else '>' end as told`), 'äßé<');
  t.match(
    await ask(server.url, `select pg_encoding_to_char(encoding) as told from pg_database where datname = 'postgres'`),
    'UTF8',
  );
});
