import t, { type Test } from 'tap';
import { type Database, openDatabase, type Sql } from '../../../storage/postgres/database.js';
import { ServiceClient } from '../../../storage/postgres/service-client.js';
import { RELIED_ON, untakenSetting } from '../../../storage/postgres/session-settings.js';
import { TIME_LIMITS } from '../../../storage/postgres/time-limits.js';
import { migrate } from '../../../storage/schema/migrate.js';
import { freshDatabase } from '../../fixture/database.js';

type Purpose = Pick<Parameters<typeof openDatabase>[0], 'limits' | 'indexedPlans' | 'relaxedCommits'>;

function opened(t: Test, url: string, purpose: Purpose = {}): Database {
  const db = openDatabase({ url, maxConnections: 1, applicationName: 'test', onError: () => {}, ...purpose });
  t.teardown(() => db.close());
  return db;
}

async function setting(sql: Sql, name: string): Promise<string | null | undefined> {
  const text = 'select current_setting($1, true) as value';
  return (await sql.query<{ value: string | null }>('testSetting', text, [name]))[0]?.value;
}

const withOptions = (url: string, options: string) =>
  `${url}${url.includes('?') ? '&' : '?'}options=${encodeURIComponent(options)}`;

/** What the address, the database or the role may set, each to something that breaks what relies on it. */
const TURNED: Record<string, string> = {
  jit: 'on',
  DateStyle: 'SQL, DMY',
  IntervalStyle: 'sql_standard',
  TimeZone: 'Asia/Kathmandu',
  bytea_output: 'escape',
  extra_float_digits: '-10',
  default_transaction_isolation: 'serializable',
  statement_timeout: '7min',
  lock_timeout: '6min',
  idle_in_transaction_session_timeout: '5min',
  idle_session_timeout: '1min',
  synchronous_commit: 'off',
  plan_cache_mode: 'force_custom_plan',
  enable_seqscan: 'off',
  enable_nestloop: 'off',
};

t.test('a session is as the code relies on it, whatever address and database set', async (t) => {
  const { url, db: direct } = await freshDatabase(t);
  const [row] = await direct.query<{ name: string }>('testName', 'select current_database() as name');
  for (const [name, value] of Object.entries(TURNED)) {
    await direct.query(`testTurn ${name}`, `alter database ${row?.name} set ${name} = '${value}'`);
  }
  const address = withOptions(url, '-c search_path=pg_catalog,public -c jit=on -c lock_timeout=99');
  const db = opened(t, address, { limits: TIME_LIMITS.edge });
  for (const [name, value] of Object.entries(RELIED_ON)) t.equal(await setting(db, name), value, name);
  t.equal(await setting(db, 'statement_timeout'), '1250ms', 'the pool’s own limits hold');
  t.equal(await setting(db, 'lock_timeout'), '1s');
  t.equal(await setting(db, 'idle_in_transaction_session_timeout'), '5s');
  t.equal(await setting(db, 'synchronous_commit'), 'on', 'what answered is on the disk');
  t.equal(await setting(db, 'enable_seqscan'), 'on');
  t.equal(await setting(db, 'plan_cache_mode'), 'auto');
  t.equal(await setting(db, 'search_path'), 'public');
});

t.test('what does not matter stays as the address has it', async (t) => {
  const { url } = await freshDatabase(t);
  const db = opened(t, withOptions(url, '-c work_mem=12345kB -c random_page_cost=1.5'));
  t.equal(await setting(db, 'work_mem'), '12345kB');
  t.equal(await setting(db, 'random_page_cost'), '1.5');
});

t.test('threads plan once and by index, and their relaxed commits alone return early', async (t) => {
  const { url } = await freshDatabase(t);
  const indexed = opened(t, url, { limits: TIME_LIMITS.thread, indexedPlans: true });
  t.equal(await setting(indexed, 'plan_cache_mode'), 'force_generic_plan');
  t.equal(await setting(indexed, 'enable_seqscan'), 'off');
  t.equal(await setting(indexed, 'synchronous_commit'), 'on');
  const relaxed = opened(t, url, { relaxedCommits: true });
  t.equal(await setting(relaxed, 'synchronous_commit'), 'off');
});

t.test('a commit that standbys have to have applied stays so', async (t) => {
  const { url } = await freshDatabase(t);
  t.equal(
    await setting(opened(t, withOptions(url, '-c synchronous_commit=remote_apply')), 'synchronous_commit'),
    'remote_apply',
  );
  t.equal(await setting(opened(t, withOptions(url, '-c synchronous_commit=local')), 'synchronous_commit'), 'on');
});

t.test('tables are found where they were made, also when another schema comes before it later', async (t) => {
  const { url, db } = await freshDatabase(t);
  await db.query('testSchema', 'create schema other');
  const path = withOptions(url, '-c search_path=other,public');
  t.equal(await setting(opened(t, path), 'search_path'), 'public');
  await migrate(path);
  const other = await db.query('testTables', `select from pg_tables where schemaname = 'other'`);
  t.equal(other.length, 0, 'a start makes no second set of tables');
});

t.test('a connection without limits of its own has none of the address either', async (t) => {
  const { url } = await freshDatabase(t);
  const client = new ServiceClient({ connectionString: withOptions(url, '-c statement_timeout=7min -c search_path=') });
  await client.connect();
  t.teardown(() => client.end());
  const { rows } = await client.query(
    `select current_setting('statement_timeout') as statements, current_setting('search_path') as path`,
  );
  t.strictSame(rows, [{ statements: '0', path: 'public' }]);
});

t.test('a setting that the server did not take is found', async (t) => {
  t.equal(untakenSetting({ ...RELIED_ON }), undefined);
  t.equal(untakenSetting({ ...RELIED_ON, DateStyle: 'German, DMY' }), 'DateStyle');
  t.equal(untakenSetting({}), 'jit');
});
