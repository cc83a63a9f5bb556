import { HttpError } from '../../../storage/model/errors.js';
import type { Database } from '../../../storage/postgres/database.js';
import { Deadline } from '../../../storage/process/deadline.js';
import { FairSlots } from '../../../storage/process/fair-slots.js';
import { LIMITS } from '../limits.js';

/**
 * The API's database as the requests of one workspace have it: their statements and transactions hold at most
 * `LIMITS.workspace_database_percent` of its connections, so that the others find one free whatever this workspace asks for.
 *
 * I1. Waiting statements are bounded, in number and in time: one past either is refused with 503 `overloaded`, which says that nothing was
 *     done. So no request is refused once a transaction of it was begun: it waits, and there are no more of those than requests under way.
 * I2. Within the workspace turns go round its keys. Work that has a connection must not ask for another: it could wait for itself.
 */
export class WorkspaceDatabase {
  readonly #db: Database;
  readonly #turns: FairSlots;

  constructor(db: Database) {
    this.#db = db;
    const share = ((db.pool.options.max ?? 0) * LIMITS.workspace_database_percent) / 100;
    this.#turns = new FairSlots(Math.max(1, Math.floor(share)));
  }

  /** The same for one request with this key. */
  of(key: string): Database {
    const db = this.#db;
    let begun = false;
    const turn = () => (begun ? this.#turns.acquire(key) : this.#turn(key)); // I1
    return {
      ...db,
      query: (name, text, values) => inTurn(turn, () => db.query(name, text, values)),
      transaction: (work) =>
        inTurn(turn, () => {
          begun = true;
          return db.transaction(work);
        }),
    };
  }

  /** I1, I2 */
  async #turn(key: string): Promise<() => void> {
    if (this.#turns.free) return this.#turns.acquire(key);
    if (this.#turns.waiting >= LIMITS.workspace_waiting_statements) throw new HttpError('overloaded', CROWDED);
    const limit = new Deadline(LIMITS.workspace_statement_wait_ms, () => new HttpError('overloaded', CROWDED));
    try {
      return await this.#turns.acquire(key, limit.signal);
    } finally {
      limit.stop();
    }
  }
}

async function inTurn<T>(turn: () => Promise<() => void>, work: () => Promise<T>): Promise<T> {
  const release = await turn();
  try {
    return await work();
  } finally {
    release();
  }
}

const CROWDED = 'too many requests of the workspace wait for the database';
