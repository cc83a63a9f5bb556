import pg from 'pg';
import { LIMITS } from '../limits.js';
import { PLAIN_VAULT, type Vault } from '../model/vault.js';
import { isRefusedForNow, isUnanswered, NotSent } from './liveness.js';
import { type OutageEvents, Reachability } from './reachability.js';
import { ServiceClient, type ServiceClientConfig } from './service-client.js';
import { destroyConnection, Session } from './session.js';
import type { SessionPurpose } from './session-settings.js';
import type { Sql, Transaction } from './sql.js';
import { TIME_LIMITS } from './time-limits.js';

export type { Sql, Transaction } from './sql.js';

export interface Database extends Sql {
  readonly pool: pg.Pool;
  /**
   * Runs `work` in one READ COMMITTED transaction on one connection; rolls back when it throws. Throws what `work` throws;
   * `NotCommitted` when the connection is lost before the commit is sent, `AnswerLost` when the commit's answer is. `statement_ms`: how long
   * each of its statements may take, instead of the pool's limit.
   */
  transaction<T>(work: (tx: Transaction) => Promise<T>, statement_ms?: number): Promise<T>;
  stats(): PoolStats;
  /** Waits for what is in flight, then closes every connection. */
  close(): Promise<void>;
}

/** What a pool holds now, and which of its statements and transactions failed since it was opened. */
export interface PoolStats {
  in_use: number;
  idle: number;
  /** Statements that wait for a connection. */
  waiting: number;
  failures: Record<StatementFailure, number>;
}

/**
 * Why a statement or transaction failed: it had no connection, its answer was lost, the database refused it for its own state, or for what
 * it holds.
 */
export type StatementFailure = 'no_connection' | 'answer_lost' | 'refused_for_now' | 'refused';

/** `limits` absent: those of a tool. */
export interface DatabaseOptions extends SessionPurpose {
  url: string;
  /** Connections of this pool at most. */
  maxConnections: number;
  /** Absent: one that stores plain values and opens no sealed one. */
  vault?: Vault;
  /** Shown in pg_stat_activity. */
  applicationName: string;
  /** Receives the loss of idle connections: of several at once, the first. */
  onError?: (error: Error) => void;
  /** Is told when the database cannot be reached any more, and when it can be again. */
  outage?: OutageEvents;
}

/** Opens a pool. Connects lazily: the first statement shows whether the server answers. */
export function openDatabase(options: DatabaseOptions): Database {
  const limits = options.limits ?? TIME_LIMITS.tool;
  const vault = options.vault ?? PLAIN_VAULT;
  const { indexedPlans, relaxedCommits } = options;
  const purpose: SessionPurpose = { limits, indexedPlans, relaxedCommits };
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.maxConnections,
    application_name: options.applicationName,
    connectionTimeoutMillis: limits.connect_ms,
    idleTimeoutMillis: LIMITS.idle_connection_ms,
    keepAlive: true,
    keepAliveInitialDelayMillis: LIMITS.keepalive_idle_s * 1000,
    // It gives up one attempt to connect before the wait for a connection is over: the next attempt may find the way.
    Client: class extends ServiceClient {
      constructor(config: ServiceClientConfig) {
        super({ ...config, purpose, connectionTimeoutMillis: LIMITS.connect_attempt_ms });
      }
    } as unknown as pg.PoolConfig['Client'],
  });
  let closing = false;
  let lostAt = Number.NEGATIVE_INFINITY;
  pool.on('error', (error) => {
    const now = performance.now();
    if (closing || now - lostAt < LIMITS.lost_connection_log_ms) return;
    lostAt = now;
    options.onError?.(new NotSent(error));
  });
  const reachability = new Reachability({ url: options.url, outage: options.outage, dropIdle: () => dropIdle(pool) });
  const failures: PoolStats['failures'] = { no_connection: 0, answer_lost: 0, refused_for_now: 0, refused: 0 };
  const count = (error: unknown) => {
    const failure = failureOf(error);
    if (failure) failures[failure]++;
  };
  const withSession = async <T>(
    work: (session: Session) => Promise<T>,
    statement_ms = limits.statement_ms,
  ): Promise<T> => {
    const since = performance.now();
    const session = await opened({ pool, vault }, statement_ms, reachability).catch((error) => {
      count(error);
      throw error;
    });
    try {
      const result = await work(session);
      reachability.answered();
      return result;
    } catch (error) {
      reachability.failed(error, since);
      count(error);
      throw error;
    } finally {
      session.release();
    }
  };
  return {
    pool,
    vault,
    query: (name, text, values) => withSession((session) => session.query(name, text, values)),
    transaction: (work, statement_ms) =>
      withSession((session) => session.transaction(work, statement_ms), statement_ms),
    stats: () => ({
      in_use: pool.totalCount - pool.idleCount,
      idle: pool.idleCount,
      waiting: pool.waitingCount,
      failures: { ...failures },
    }),
    close() {
      closing = true;
      reachability.close();
      return pool.end();
    },
  };
}

/** Undefined for what the work itself threw. */
function failureOf(error: unknown): StatementFailure | undefined {
  if (error instanceof NotSent) return 'no_connection';
  if (isUnanswered(error)) return 'answer_lost';
  if (isRefusedForNow(error)) return 'refused_for_now';
  return error instanceof pg.DatabaseError ? 'refused' : undefined;
}

async function opened(
  { pool, vault }: { pool: pg.Pool; vault: Vault },
  statement_ms: number,
  reachability: Reachability,
): Promise<Session> {
  reachability.check();
  const since = performance.now();
  try {
    return await reachability.unlessAway(Session.open(pool, vault, statement_ms), (late) => late.release());
  } catch (error) {
    reachability.notConnected(error, since);
    throw error;
  }
}

/** Closes the connections of the pool that nobody uses now. */
function dropIdle(pool: pg.Pool): void {
  for (let idle = pool.idleCount; idle > 0; idle--) {
    pool.connect().then(
      (client) => {
        client.release(true);
        destroyConnection(client);
      },
      () => {},
    );
  }
}

/**
 * True when the statement failed because of its values (one that no column takes, one beyond a limit): the same values fail
 * each time. A RangeError is a value that cannot be serialised: too large, or outside its type.
 */
export function refusesValues(error: unknown): boolean {
  return error instanceof RangeError || (error instanceof pg.DatabaseError && /^(22|23|54)/.test(error.code ?? ''));
}

/** The constraint a unique or foreign key violation broke, or undefined for any other error. */
export function violatedConstraint(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError && error.code?.startsWith('23') ? error.constraint : undefined;
}
