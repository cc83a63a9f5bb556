import { serverSettings, type TimeLimits } from './time-limits.js';

/** What the statements of one pool or connection want of their session. */
export interface SessionPurpose {
  /** Absent: statements and locks may take as long as they do, as those of a migration. */
  limits?: TimeLimits | undefined;
  /**
   * For statements that all use an index: the server plans each named statement once, for any parameters and any size of the
   * tables. A plan made while a table was empty would scan it for ever; planning each time costs a third of a start.
   */
  indexedPlans?: boolean | undefined;
  /**
   * Commits return before they are on the disk: a crash of the database server can lose the last half second of them. For
   * statements whose loss is found and repaired.
   */
  relaxedCommits?: boolean | undefined;
}

/**
 * What the service's code relies on. The address, the role, the database and the server's file may say otherwise: a session
 * overrules them, and a start refuses a server that does not take one of these.
 */
export const RELIED_ON = {
  // The planner takes a statement of many CTEs for dear, and LLVM compiles it at each execution: 300 ms and more.
  jit: 'off',
  // The driver reads and writes these forms, and cursors of lists hold them.
  client_encoding: 'UTF8',
  DateStyle: 'ISO, MDY',
  IntervalStyle: 'postgres',
  TimeZone: 'UTC',
  bytea_output: 'hex',
  extra_float_digits: '1',
  standard_conforming_strings: 'on',
  // Each statement that decides is written for it.
  default_transaction_isolation: 'read committed',
  // Without one of these a plan reads a whole table.
  enable_indexscan: 'on',
  enable_indexonlyscan: 'on',
  enable_bitmapscan: 'on',
  enable_nestloop: 'on',
  enable_sort: 'on',
  // A pool keeps its connections while nothing is asked.
  idle_session_timeout: '0',
} as const;

/** The schema that has the service's tables, else the one where they would be made: later ones on the path hide nothing. */
const SCHEMA = `coalesce(
    (select pg_catalog.quote_ident(n.nspname) from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
      where c.oid = pg_catalog.to_regclass('schema_migration')),
    pg_catalog.quote_ident(current_schema()), 'public')`;

/** A standby that has to have applied a commit is more than the service wants; anything less than the disk is too little. */
const DURABLE = `case pg_catalog.current_setting('synchronous_commit') when 'remote_apply' then 'remote_apply' else 'on' end`;

/**
 * The one statement that a session begins with. It answers a row with what each setting of `RELIED_ON` is now. Safe to run again.
 * Everything in it is known to PostgreSQL 15 and later, but for `transaction_timeout` of 17.
 */
export function sessionStatement({ limits, indexedPlans = false, relaxedCommits = false }: SessionPurpose): string {
  const settings = {
    ...RELIED_ON,
    plan_cache_mode: indexedPlans ? 'force_generic_plan' : 'auto',
    enable_seqscan: indexedPlans ? 'off' : 'on',
    ...serverSettings(limits),
  };
  const columns = [
    ...Object.entries(settings).map(([name, value]) => set(name, `'${value}'`)),
    set('search_path', SCHEMA),
    set('synchronous_commit', relaxedCommits ? `'off'` : DURABLE),
    `case when pg_catalog.current_setting('transaction_timeout', true) is not null
       then pg_catalog.set_config('transaction_timeout', '0', false) end as transaction_timeout`,
  ];
  return `select ${columns.join(',\n  ')}`;
}

const set = (name: string, value: string) => `pg_catalog.set_config('${name}', ${value}, false) as "${name}"`;

/** The name of a setting that is not as the code relies on it although it was set; undefined when all are. */
export function untakenSetting(row: Record<string, string | null>): string | undefined {
  return Object.entries(RELIED_ON).find(([name, value]) => row[name] !== value)?.[0];
}
