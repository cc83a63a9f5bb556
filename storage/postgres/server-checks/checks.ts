import { RELIED_ON } from '../session-settings.js';
import type { ServerFacts } from './facts.js';

/** `refused`: the service does not start. `warning`: it starts, and a promise does not hold. `note`: worth knowing. */
export type Level = 'ok' | 'note' | 'warning' | 'refused';

/** What the caller knows of the nodes that are to use the server. */
export interface Wanted {
  /** Connections that one node opens at most; undefined where nobody counted. */
  connections?: number | undefined;
}

/** One thing that is looked at in a server before the service uses it. */
export interface Check {
  name: string;
  wants: string;
  /** What it means when it is not so, and what to do then. */
  means: string;
  action: string;
  judge(facts: ServerFacts, wanted: Wanted): { level: Level; found: string };
}

const OLDEST = 15;
const NEWEST = 18;
/** How far the clocks of the server and of a node may be apart before it is told. */
const CLOCK_ms = 2_000;

/** In the order in which they are shown; the first one that refuses ends a start. */
export const CHECKS: readonly Check[] = [
  {
    name: 'version',
    wants: `PostgreSQL ${OLDEST} to ${NEWEST}`,
    means: 'Statements of the service are unknown to an older server. A newer one has not been tried.',
    action: `use PostgreSQL ${OLDEST} to ${NEWEST}`,
    judge({ version, version_num }) {
      const major = Math.floor(version_num / 10_000);
      const level = major < OLDEST ? 'refused' : major > NEWEST ? 'warning' : 'ok';
      return { level, found: `PostgreSQL ${version}` };
    },
  },
  {
    name: 'pooler',
    wants: 'none, or one that pools sessions',
    means:
      'A pooler that pools transactions gives statements of one session to different server connections: prepared statements, LISTEN and session locks fail.',
    action: 'set pool_mode to session, or give the address of PostgreSQL itself',
    judge({ pooler }) {
      if (pooler === 'transaction') return { level: 'refused', found: 'a pooler in transaction mode answers' };
      return pooler === 'session'
        ? {
            level: 'note',
            found: 'a pooler in session mode answers: it has to hold as many connections as the nodes open',
          }
        : { level: 'ok', found: 'none' };
    },
  },
  {
    name: 'standby',
    wants: 'a primary',
    means: 'A standby takes no writes.',
    action: 'give the address of the primary',
    judge: ({ standby }) =>
      standby ? { level: 'refused', found: 'the server is a standby' } : { level: 'ok', found: 'a primary' },
  },
  {
    name: 'encoding',
    wants: 'UTF8',
    means: 'Texts with characters that the encoding lacks are refused by the server.',
    action: `make the database with encoding 'UTF8' template template0`,
    judge: ({ encoding, database }) => ({
      level: encoding === 'UTF8' ? 'ok' : 'refused',
      found: `the database ${database} has the encoding ${encoding}`,
    }),
  },
  {
    name: 'read-only',
    wants: 'off',
    means: 'The role, the database or the server makes each transaction read-only unless it says otherwise.',
    action: 'reset default_transaction_read_only where it is set',
    judge: ({ read_only, role }) =>
      read_only
        ? { level: 'refused', found: `transactions of the role ${role} are read-only` }
        : { level: 'ok', found: 'off' },
  },
  {
    name: 'rights',
    wants: 'a role that owns its database',
    means:
      'Each version may change tables at its first start, and makes the schemas audit and pgboss at the first start of all.',
    action: 'make the role the owner of its database: alter database … owner to …',
    judge({ role, database, migrated, owner, creates_tables, creates_schemas }) {
      const refused = (found: string) => ({ level: 'refused' as const, found });
      if (migrated && !owner) return refused(`the role ${role} does not own the service's tables in ${database}`);
      if (!migrated && !(creates_tables && creates_schemas)) {
        return refused(`the role ${role} may make no ${creates_tables ? 'schemas' : 'tables'} in ${database}`);
      }
      return { level: 'ok', found: migrated ? 'owns the tables' : 'may make tables and schemas' };
    },
  },
  {
    name: 'superuser',
    wants: 'no superuser',
    means: 'A statement of a superuser may run programs and read files on the database’s machine.',
    action: 'give the service a role that owns its database and nothing else',
    judge: ({ superuser }) =>
      superuser ? { level: 'warning', found: 'its role is a superuser' } : { level: 'ok', found: 'no superuser' },
  },
  {
    name: 'fsync',
    wants: 'on',
    means: 'A crash of the machine can lose what was accepted, or the whole database.',
    action: 'set fsync to on',
    judge: (facts) => onOrWarning(facts, 'fsync'),
  },
  {
    name: 'full page writes',
    wants: 'on',
    means: 'A crash of the machine can leave pages that are half written, which nothing repairs.',
    action: 'set full_page_writes to on, unless the file system writes whole pages',
    judge: (facts) => onOrWarning(facts, 'full_page_writes'),
  },
  {
    name: 'connections',
    wants: 'room for what all nodes open, and for one node more during an upgrade',
    means: 'Nodes that find no connection answer 503 and take over partitions late.',
    action:
      'raise max_connections, or the limit of the role or the database; or start fewer nodes, or fewer ACTOR_THREADS',
    judge({ connections, nodes }, { connections: each }) {
      if (each === undefined) return { level: 'ok', found: `${connections} for this role` };
      const needed = each * Math.max(1, nodes);
      const found = `${connections} for this role; ${Math.max(1, nodes)} × ${each} are needed, ${each} more during an upgrade`;
      return { level: connections < needed ? 'warning' : connections < needed + each ? 'note' : 'ok', found };
    },
  },
  {
    name: 'autovacuum',
    wants: 'on, with track_counts',
    means: 'The tables of jobs and deliveries grow without end, and statements become slower.',
    action: 'set autovacuum and track_counts to on',
    judge(facts) {
      const off = ['autovacuum', 'track_counts'].filter((name) => settingOf(facts, name) === 'off');
      return off.length > 0 ? { level: 'warning', found: `${off.join(' and ')} = off` } : { level: 'ok', found: 'on' };
    },
  },
  {
    name: 'encryption',
    wants: 'TLS, where the server is another machine',
    means: 'Whoever is on the network between reads what the service reads and writes.',
    action: 'add sslmode=verify-full and sslrootcert=FILE to the address',
    judge({ encrypted, network }) {
      if (encrypted) return { level: 'ok', found: 'TLS' };
      if (network === 'machine') return { level: 'ok', found: 'none, on this machine' };
      return { level: network === 'private' ? 'note' : 'warning', found: `none, over a ${network} network` };
    },
  },
  {
    name: 'clock',
    wants: `within ${CLOCK_ms / 1000} s of this machine's`,
    means: 'Times in ids and in rows contradict each other, and sorted lists with them.',
    action: 'synchronise the clocks of both machines',
    judge({ clock_ms }) {
      const seconds = (clock_ms / 1000).toFixed(1);
      if (Math.abs(clock_ms) <= CLOCK_ms) return { level: 'ok', found: 'the same' };
      return { level: 'warning', found: `${seconds} s from this machine's` };
    },
  },
  {
    name: 'statement log',
    wants: 'no values of statements',
    means: 'The server’s log gets the values of statements: hashes of keys, sealed texts, inputs that are not sealed.',
    action: 'set log_parameter_max_length to 0, or log_statement to none',
    judge(facts) {
      const value = (name: string) => settingOf(facts, name);
      const all = value('log_statement') === 'all' || value('log_statement') === 'mod';
      const logged = all || value('log_min_duration_statement') === '0';
      if (!logged || value('log_parameter_max_length') === '0') return { level: 'ok', found: 'no values' };
      return {
        level: 'warning',
        found: `${all ? `log_statement = ${value('log_statement')}` : 'log_min_duration_statement = 0'}, with values`,
      };
    },
  },
  {
    name: 'overruled settings',
    wants: 'any',
    means:
      'The service sets these for its own sessions; what the address, the role, the database or the server says is not used.',
    action: 'nothing, unless another program relies on them',
    judge(facts) {
      const turned = [...overruled(facts)].map(([name, { value, source }]) => `${name} = ${value} (${source})`);
      return turned.length > 0 ? { level: 'note', found: turned.join(', ') } : { level: 'ok', found: 'none' };
    },
  },
];

const settingOf = ({ settings }: ServerFacts, name: string) => settings.get(name)?.value;

function onOrWarning(facts: ServerFacts, name: string): { level: Level; found: string } {
  const value = settingOf(facts, name) ?? 'unknown';
  return { level: value === 'on' ? 'ok' : 'warning', found: `${name} = ${value}` };
}

/** Sources that are nobody's decision. */
const UNDECIDED = new Set(['default', 'override']);
/** Where a program that makes clusters writes what it finds on the machine: that is nobody's decision about the service either. */
const WRITTEN_BY_INITDB = new Set(['DateStyle', 'TimeZone']);

/** Settings that somebody turned and that the service's sessions overrule. */
function* overruled({ settings }: ServerFacts) {
  const set: Record<string, string> = {
    ...RELIED_ON,
    ...{ synchronous_commit: 'on', enable_seqscan: 'on', plan_cache_mode: 'auto' },
    ...{ statement_timeout: '0', lock_timeout: '0', idle_in_transaction_session_timeout: '0' },
    search_path: '"$user", public',
  };
  for (const [name, setting] of settings) {
    const usual = set[name];
    if (usual === undefined || usual === setting.value || UNDECIDED.has(setting.source)) continue;
    if (name === 'client_encoding') continue; // the driver asks for it
    if (setting.source === 'configuration file' && WRITTEN_BY_INITDB.has(name)) continue;
    yield [name, setting] as const;
  }
}
