import { FairSemaphore } from '../../browser-pool/fair-semaphore.js';
import { Deadline } from '../../storage/deadline.js';
import { HttpError } from '../../storage/model/errors.js';
import type { Database } from '../../storage/postgres/database.js';
import { LIMITS } from './limits.js';

/**
 * The API's database as the requests of one workspace have it: their statements and transactions hold at most
 * `LIMITS.workspace_database_percent` of its connections, so that the others find one free whatever this workspace asks for.
 *
 * I1. What waits for its turn is bounded, by number and by time: past either it is refused with 503 `overloaded`.
 * I2. Within the workspace turns go round its keys. Work that has a connection must not ask for another: it could wait for itself.
 */
export class WorkspaceDatabase {
  readonly #db: Database;
  readonly #turns: FairSemaphore;

  constructor(db: Database) {
    this.#db = db;
    const share = ((db.pool.options.max ?? 0) * LIMITS.workspace_database_percent) / 100;
    this.#turns = new FairSemaphore(Math.max(1, Math.floor(share)));
  }

  /** The same for the requests with one key. */
  of(key: string): Database {
    const db = this.#db;
    return {
      ...db,
      query: (name, text, values) => this.#inTurn(key, () => db.query(name, text, values)),
      transaction: (work) => this.#inTurn(key, () => db.transaction(work)),
    };
  }

  async #inTurn<T>(key: string, work: () => Promise<T>): Promise<T> {
    const release = await this.#turn(key);
    try {
      return await work();
    } finally {
      release();
    }
  }

  /** I1, I2 */
  async #turn(key: string): Promise<() => void> {
    if (this.#turns.free) return this.#turns.acquire(key, AT_ONCE);
    if (this.#turns.waiting >= LIMITS.workspace_waiting_statements) throw new HttpError('overloaded', CROWDED);
    const limit = new Deadline(LIMITS.workspace_statement_wait_ms, () => new HttpError('overloaded', CROWDED));
    try {
      return await this.#turns.acquire(key, limit.signal);
    } finally {
      limit.stop();
    }
  }
}

const CROWDED = 'too many requests of the workspace wait for the database';
/** Never aborts: for a turn that is there. */
const AT_ONCE = new AbortController().signal;
