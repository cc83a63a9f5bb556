import { readFile } from 'node:fs/promises';
import pg from 'pg';
import t from 'tap';
import { auditParts, makeAuditParts } from '../../../storage/audit/parts.js';
import { openDatabase } from '../../../storage/postgres/database.js';
import { migrate } from '../../../storage/schema/migrate.js';
import { dataFolder } from '../../fixture/data-folder.js';
import { startSuperuserDatabase } from '../../fixture/superuser-database.js';
import { startTestEdge } from '../../server/edge-fixture.js';

async function on<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** What would shorten the log, or make it possible to. */
const FORBIDDEN = [
  `update audit.entry set action = 'key.create'`,
  'delete from audit.entry',
  'truncate audit.entry',
  'drop table audit.entry',
  'drop table audit.entry_rest',
  'truncate audit.entry_rest',
  'alter table audit.entry detach partition audit.entry_rest',
  'drop view audit.part',
  'create or replace function audit.newest_in_rest() returns timestamptz language sql as $$select now()$$',
  `select audit.drop_part('rest', 0)`,
  'drop schema audit cascade',
  'alter schema audit rename to other',
  'alter table audit.entry disable trigger entry_is_kept',
  'drop trigger entry_is_kept on audit.entry',
  'drop function audit.refuse_change() cascade',
  'create or replace function audit.refuse_change() returns trigger language plpgsql as $$begin return null; end$$',
  'alter table audit.entry owner to connection_service',
  'create rule lost as on insert to audit.entry do instead nothing',
  'set session_replication_role = replica',
  'set role audit_owner',
];

t.test('a service whose audit log is another role’s writes and reads it, and can do nothing else to it', async (t) => {
  const server = await startSuperuserDatabase(await dataFolder(t));
  t.teardown(() => server.stop());
  const service = new URL(server.url);
  Object.assign(service, { username: 'connection_service', password: 'word', pathname: '/connections' });
  await on(server.url, async (client) => {
    await client.query(`create role connection_service login password 'word'`);
    await client.query('create database connections owner connection_service');
  });
  await migrate(service.href);
  const page = await readFile('OPERATE.md', 'utf8');
  const recipe = /```sql\n(create role audit_owner;[^`]*)```/.exec(page)?.[1] ?? '';
  const superuser = new URL(server.url);
  superuser.pathname = '/connections';
  await on(superuser.href, (client) => client.query(recipe));

  await migrate(service.href); // the next start
  const db = openDatabase({ url: service.href, maxConnections: 4, applicationName: 'test' });
  t.teardown(() => db.close());
  const { call } = await startTestEdge(t, {}, db);
  const body = { provider: 'simulated', external_actor: { kind: 'person', id: 'ada' } };
  const { id } = (await call('POST', '/v1/connections', { body })).json;
  const headers = { 'idempotency-key': 'once' };
  const input = { capability: 'social.identity.get', input: {} };
  t.equal((await call('POST', `/v1/connections/${id}/operations`, { body: input, headers })).status, 202);
  const told = async () => (await call('GET', '/v1/audit')).json.entries as { action: string }[];
  t.match(await told(), [{ action: 'operation.submit' }, { action: 'connection.create' }]);

  await on(service.href, async (client) => {
    for (const statement of FORBIDDEN) {
      await t.rejects(client.query(statement), { code: '42501' }, statement);
    }
  });
  t.equal((await told()).length, 2);

  const last = (await auditParts(db)).at(-2)!;
  await on(superuser.href, (client) => client.query(`drop table ${last.relation}`));
  t.strictSame(await makeAuditParts(db), [last.name], 'a part that is missing is made all the same');
  t.match(await auditParts(db, last.name), [{ owner: 'audit_owner', owned: false }]);
  await on(service.href, async (client) => {
    const at = last.since!;
    await client.query(
      `insert into audit.entry (id, at, actor_kind, action) values (gen_random_uuid(), $1, 'key', 'key.create')`,
      [at],
    );
    const { rows } = await client.query(`select at from ${last.relation}`);
    t.same(rows, [{ at }], 'and is written to and read');
  });
});
