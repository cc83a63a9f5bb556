import pg from 'pg';
import { LIMITS } from '../limits.js';

/**
 * Runs statements on PostgreSQL. Each has a name, so that the server plans it once a connection
 * (measured: unnamed statements cost about twice as much an operation).
 */
export interface Sql {
  /** Runs the named statement and returns its rows. Throws pg's DatabaseError. */
  query<Row extends object = Record<string, never>>(name: string, text: string, values?: unknown[]): Promise<Row[]>;
}

export interface Database extends Sql {
  readonly pool: pg.Pool;
  /** Runs `work` in one READ COMMITTED transaction on one connection; rolls back when it throws. */
  transaction<T>(work: (tx: Sql) => Promise<T>): Promise<T>;
  /** Waits for what is in flight, then closes every connection. */
  close(): Promise<void>;
}

export interface DatabaseOptions {
  url: string;
  /** Connections of this pool at most. */
  maxConnections: number;
  /** Shown in pg_stat_activity. */
  applicationName: string;
  /**
   * For pools whose statements all use an index: plans each named statement once, for any parameters and any size of the
   * tables. A plan made while a table was empty would scan it for ever; planning each time costs a third of a start.
   */
  indexedPlans?: boolean;
  /**
   * Commits return before they are on the disk: a crash of the database server can lose the last half second of them. For
   * statements whose loss is found and repaired.
   */
  relaxedCommits?: boolean;
  /** Receives errors of idle connections, which otherwise would end the process. */
  onError?: (error: Error) => void;
}

// Epochs and counts are far below 2^53: numbers, not strings.
const types = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    oid === pg.types.builtins.INT8
      ? Number
      : pg.types.getTypeParser(oid, format as 'text')) as typeof pg.types.getTypeParser,
};

function sqlOn(client: pg.ClientBase | pg.Pool): Sql {
  return {
    async query<Row extends object>(name: string, text: string, values: unknown[] = []) {
      const { rows } = await client.query<Row>({ name, text, values, types });
      return rows;
    },
  };
}

async function transactionOn<T>(pool: pg.Pool, work: (tx: Sql) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    await client.query('begin');
    const result = await work(sqlOn(client));
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback').catch((rollbackError: Error) => {
      broken = rollbackError;
    });
    throw error;
  } finally {
    client.release(broken);
  }
}

/** Opens a pool. Connects lazily: the first statement shows whether the server answers. */
export function openDatabase(options: DatabaseOptions): Database {
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.maxConnections,
    application_name: options.applicationName,
    options: [
      options.indexedPlans ? '-c plan_cache_mode=force_generic_plan -c enable_seqscan=off' : '',
      options.relaxedCommits ? '-c synchronous_commit=off' : '',
    ].join(' '),
    connectionTimeoutMillis: LIMITS.connect_timeout_ms,
    idleTimeoutMillis: LIMITS.idle_connection_ms,
    keepAlive: true,
  });
  let closing = false;
  pool.on('error', (error) => {
    if (!closing) options.onError?.(error);
  });
  return {
    pool,
    ...sqlOn(pool),
    transaction: (work) => transactionOn(pool, work),
    close() {
      closing = true;
      return pool.end();
    },
  };
}

/**
 * True when the statement failed because of its values (one that no column takes, one beyond a limit): the same values fail
 * each time. A RangeError is a value too large to be serialised.
 */
export function refusesValues(error: unknown): boolean {
  return error instanceof RangeError || (error instanceof pg.DatabaseError && /^(22|23|54)/.test(error.code ?? ''));
}

/** The constraint a unique or foreign key violation broke, or undefined for any other error. */
export function violatedConstraint(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError && error.code?.startsWith('23') ? error.constraint : undefined;
}
