import type { Database } from '../../../storage/postgres/database.js';

/** What a table holds, as the database counts it. */
export interface TableSample {
  name: string;
  /** With what is stored out of line, without indexes. */
  table_bytes: number;
  index_bytes: number;
  live: number;
  /** Rows that nobody sees any more and no vacuum has cleared. */
  dead: number;
}

/** Tables that are meant to get rows as work is done: their bytes a row must stay level. Every other table must itself. */
const GROWING: ReadonlySet<string> = new Set([
  'operation',
  'operation_file',
  'event',
  'event_position',
  'delivery',
  'delivery_attempt',
  'simulated_invitation',
  'idempotency_tombstone',
  'listener_gap',
]);

export const isMeantToGrow = (table: string): boolean => GROWING.has(table);

/** Every table of ours and of the queue library. */
export async function sampleTables(db: Database): Promise<TableSample[]> {
  return db.query<TableSample>(
    'soakTables',
    `select case schemaname when 'public' then '' else schemaname || '.' end || relname as name,
       pg_table_size(relid)::float8 as table_bytes, pg_indexes_size(relid)::float8 as index_bytes,
       n_live_tup::float8 as live, n_dead_tup::float8 as dead
     from pg_stat_user_tables order by 1`,
  );
}

/** The service's connections to the database, by the name that each gives itself. */
export async function sampleConnections(db: Database): Promise<Record<string, number>> {
  const rows = await db.query<{ name: string; count: number }>(
    'soakConnections',
    `select application_name as name, count(*)::int as count from pg_stat_activity
     where datname = current_database() and application_name like 'connection-service%' group by 1 order by 1`,
  );
  return Object.fromEntries(rows.map(({ name, count }) => [name, count]));
}

/** What has not ended, and what is left of what has. All zero once the load is over and everything has ended. */
export interface Leftovers {
  jobs: number;
  running: number;
}

export async function sampleLeftovers(db: Database): Promise<Leftovers> {
  const rows = await db.query<Leftovers>(
    'soakLeftovers',
    `select (select count(*)::int from pgboss.job_common
         where (name like 'mailbox-%' or name like 'delivery-%') and state < 'completed') as jobs,
       (select count(*)::int from operation where status in ('running', 'waiting_user')) as running`,
  );
  return rows[0] ?? { jobs: Number.NaN, running: Number.NaN };
}

/** How many operations and deliveries there are of each status. Reads both tables. */
export async function countEnds(
  db: Database,
): Promise<{ operations: Record<string, number>; deliveries: Record<string, number> }> {
  const counts = async (table: 'operation' | 'delivery') => {
    const rows = await db.query<{ status: string; count: number }>(
      `soakEnds-${table}`,
      `select status, count(*)::int as count from ${table} group by 1 order by 1`,
    );
    return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
  };
  return { operations: await counts('operation'), deliveries: await counts('delivery') };
}
