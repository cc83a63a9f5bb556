import type { Socket } from 'node:net';
import pg from 'pg';
import { LIMITS } from '../limits.js';
import type { Vault } from '../model/vault.js';
import { Deadline } from '../process/deadline.js';
import { AnswerLost, endsConnection, NotCommitted, NotSent, neverSent } from './liveness.js';
import type { Sql, Transaction } from './sql.js';

/** The client's own limit of a statement was reached: neither its answer nor the server's refusal came. */
export class StatementOverdue extends Error {
  override readonly name = 'StatementOverdue';

  constructor() {
    super('no answer in time');
  }
}

// Epochs and counts are far below 2^53: numbers, not strings.
const types = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    oid === pg.types.builtins.INT8
      ? Number
      : pg.types.getTypeParser(oid, format as 'text')) as typeof pg.types.getTypeParser,
};

// Refusals after which a connection is as good as before. After any other one it is closed: a prepared statement whose
// table was changed would be refused for ever.
const HARMLESS = /^(?:22|23|40|54|55P03|57014|P0)/;

/** Ends a connection at once, whatever it does: a polite end would wait on a link that stalls. */
export function destroyConnection(client: pg.ClientBase): void {
  (client as unknown as { connection: { stream: Socket } }).connection.stream.destroy();
}

/**
 * One connection while it is checked out of its pool.
 *
 * I1. It knows of its connection's death as soon as that is told, also between two statements.
 * I2. No statement waits for ever: at its limit it rejects, and the connection is destroyed, so that no late answer comes.
 * I3. Nothing more is sent on a connection that was lost.
 * I4. A connection in an unknown state never goes back to the pool.
 */
export class Session implements Sql {
  readonly vault: Vault;
  readonly #client: pg.PoolClient;
  readonly #statement_ms: number;
  #lost: Error | undefined;
  #unfit: Error | undefined;

  private constructor(client: pg.PoolClient, vault: Vault, statement_ms: number) {
    this.vault = vault;
    this.#client = client;
    this.#statement_ms = statement_ms;
    client.on('error', this.#died); // I1
  }

  /** Checks a connection out. Throws `NotSent`. */
  static async open(pool: pg.Pool, vault: Vault, statement_ms: number): Promise<Session> {
    try {
      return new Session(await pool.connect(), vault, statement_ms);
    } catch (error) {
      throw new NotSent(error);
    }
  }

  async query<Row extends object>(name: string, text: string, values: unknown[] = []): Promise<Row[]> {
    const { rows } = await this.run<Row>({ name, text, values, types });
    return rows;
  }

  /** Runs one statement. Throws pg's DatabaseError when it is refused, `NotSent`, or `AnswerLost`. */
  async run<Row extends pg.QueryResultRow>(
    config: pg.QueryConfig,
    limit_ms = this.#statement_ms,
  ): Promise<pg.QueryResult<Row>> {
    if (this.#lost) throw new NotSent(this.#lost); // I3
    try {
      return await Deadline.within(limit_ms, this.#client.query<Row>(config), { reason: () => new StatementOverdue() });
    } catch (error) {
      throw this.#failed(error);
    }
  }

  /** Runs `work` in a transaction; see `Database.transaction`. */
  async transaction<T>(work: (tx: Transaction) => Promise<T>, statement_ms?: number): Promise<T> {
    let result: T;
    try {
      await this.run({ text: 'begin' });
      if (statement_ms !== undefined) {
        const server_ms = Math.max(1, Math.round(statement_ms - LIMITS.statement_margin_ms)); // as `serverSettings`
        await this.run({ text: `set local statement_timeout = ${server_ms}` });
      }
      result = await work(this as Sql as Transaction);
    } catch (error) {
      await this.#rollback();
      throw error instanceof AnswerLost ? new NotCommitted(error.cause) : error;
    }
    const { command } = await this.run({ text: 'commit' });
    // What the server says to the commit of a transaction in which a statement failed.
    if (command === 'ROLLBACK') throw new Error('the transaction was rolled back: a failed statement was passed over');
    return result;
  }

  /** Gives the connection back to its pool, or closes it (I4). */
  release(): void {
    this.#client.release(this.#lost ?? this.#unfit);
    this.#client.removeListener('error', this.#died); // the pool has put its own listener in place
  }

  readonly #died = (error: Error): void => {
    this.#lost ??= error;
  };

  async #rollback(): Promise<void> {
    if (this.#lost) return;
    await this.run({ text: 'rollback' }, Math.min(this.#statement_ms, LIMITS.rollback_ms)).catch((error: Error) => {
      this.#unfit ??= error;
    });
  }

  /** What a statement's failure is thrown as, and what it says of the connection. */
  #failed(error: unknown): unknown {
    if (error instanceof StatementOverdue || endsConnection(error)) {
      this.#destroy(error as Error);
      return neverSent(error) ? new NotSent(error) : new AnswerLost(error);
    }
    if (!(error instanceof pg.DatabaseError))
      this.#destroy(error as Error); // half of it may have been sent
    else if (!HARMLESS.test(error.code ?? '')) this.#unfit ??= error;
    return error;
  }

  #destroy(error: Error): void {
    this.#lost ??= error;
    destroyConnection(this.#client); // I2
  }
}
