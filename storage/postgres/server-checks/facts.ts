import pg from 'pg';
import { LIMITS } from '../../limits.js';
import { RELIED_ON } from '../session-settings.js';
import { type Pooler, poolerOf } from './pooler.js';

/** What a server, its database and its role are, as a session of this address finds them before the service sets anything. */
export interface ServerFacts {
  /** As the server writes it, and as a number: 150018. */
  version: string;
  version_num: number;
  encoding: string;
  standby: boolean;
  /** Whether its transactions are read-only unless they say otherwise. */
  read_only: boolean;
  role: string;
  superuser: boolean;
  database: string;
  /** Whether the service's tables are there, and whether the role owns them. */
  migrated: boolean;
  owner: boolean;
  /** Whether the role may make tables in the schema where they would be, and schemas in the database. */
  creates_tables: boolean;
  creates_schemas: boolean;
  /** Connections that roles like this one may have together, and those that clients have now. */
  connections: number;
  connected: number;
  /** Nodes of the service that have shown themselves within a minute. */
  nodes: number;
  encrypted: boolean;
  /** Where the server is, by its address. */
  network: 'machine' | 'private' | 'public';
  /** The server's clock less this machine's. */
  clock_ms: number;
  pooler: Pooler;
  settings: ReadonlyMap<string, Setting>;
}

export interface Setting {
  value: string;
  /** What set it, in the server's words: `default`, `configuration file`, `database`, `user`, `client` … */
  source: string;
}

/** Those that checks read, beside `RELIED_ON`. */
const READ = [
  ...['fsync', 'full_page_writes', 'autovacuum', 'track_counts', 'synchronous_commit', 'search_path'],
  ...['log_statement', 'log_min_duration_statement', 'log_parameter_max_length', 'enable_seqscan', 'plan_cache_mode'],
  ...['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout'],
];

/** Reads the facts. Throws what the driver throws when the address does not answer. */
export async function readFacts(url: string): Promise<ServerFacts> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: LIMITS.probe_timeout_ms });
  client.on('error', () => {});
  try {
    await client.connect();
    const asked = Date.now();
    const { rows } = await client.query<Row>(FACTS);
    const answered = Date.now();
    const { rows: settings } = await client.query<Setting & { name: string }>(SETTINGS, [
      [...READ, ...Object.keys(RELIED_ON)],
    ]);
    const { clock, ...facts } = rows[0] as Row;
    return {
      ...facts,
      nodes: facts.migrated ? await nodesOf(client) : 0,
      clock_ms: Math.round(clock - (asked + answered) / 2),
      pooler: await poolerOf(client, url),
      settings: new Map(settings.map(({ name, value, source }) => [name, { value, source }])),
    };
  } finally {
    await client.end().catch(() => {});
  }
}

type Row = Omit<ServerFacts, 'settings' | 'pooler' | 'clock_ms' | 'nodes'> & { clock: number };

/** Known to every version that is still in use: an old one has to be refused by name. */
const FACTS = `
  with role as (select oid, rolname, rolsuper, rolconnlimit from pg_roles where rolname = current_user),
    own as (select oid, datname, datconnlimit from pg_database where datname = current_database()),
    marker as (select relowner from pg_class where oid = to_regclass('schema_migration')),
    place as (select coalesce(current_schema(), 'public') as schema),
    most as (
      select current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
        - coalesce(current_setting('reserved_connections', true)::int, 0) as connections)
  select current_setting('server_version') as version, current_setting('server_version_num')::int as version_num,
    current_setting('server_encoding') as encoding, pg_is_in_recovery() as standby,
    current_setting('default_transaction_read_only')::boolean as read_only,
    role.rolname as role, role.rolsuper as superuser, own.datname as database,
    exists (select from marker) as migrated,
    coalesce((select pg_has_role(relowner, 'usage') from marker), false) as owner,
    coalesce((select has_schema_privilege(n.oid, 'create') from pg_namespace n where n.nspname = place.schema), false) as creates_tables,
    has_database_privilege(own.oid, 'create') as creates_schemas,
    least(most.connections, nullif(role.rolconnlimit, -1), nullif(own.datconnlimit, -1)) as connections,
    (select count(*)::int from pg_stat_activity where backend_type = 'client backend') as connected,
    coalesce((select ssl from pg_stat_ssl where pid = pg_backend_pid()), false) as encrypted,
    case when coalesce(host(inet_client_addr()) = host(inet_server_addr()), true) then 'machine'
      when inet_server_addr() <<= any (array['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7']::inet[]) then 'private'
      else 'public' end as network,
    (extract(epoch from clock_timestamp()) * 1000)::float8 as clock
  from role, own, place, most`;

const SETTINGS = `
  select name, coalesce(current_setting(name, true), setting) as value, source from pg_settings where name = any($1)`;

/** Nodes of this installation that run, as they tell by their heartbeats. */
async function nodesOf(client: pg.Client): Promise<number> {
  const text = `select count(*)::int as nodes from node where heartbeat_at > now() - interval '1 minute'`;
  const counted = await client.query<{ nodes: number }>(text).catch(() => undefined); // a role without rights on it
  return counted?.rows[0]?.nodes ?? 0;
}
