import { lockIdleConnection } from '../../../storage/connections/connection-changes.js';
import { stopRest, stopWork } from '../../../storage/connections/stopping.js';
import type { Database } from '../../../storage/postgres/database.js';
import type { Ledger } from './ledger.js';
import { runningOf } from './rows.js';
import type { Stage } from './stage.js';

/** What befalls the rows of a connection that its owner does not do. */
export class RowsAtWork {
  readonly #db: Database;
  readonly #stage: Stage;
  readonly #ledger: Ledger;

  constructor(db: Database, stage: Stage, ledger: Ledger) {
    this.#db = db;
    this.#stage = stage;
    this.#ledger = ledger;
  }

  /** As PATCH and disconnect do: nothing of the connection may run while they hold it. */
  async change({ id, partition }: { id: string; partition: number }, kind: 'change' | 'disconnect'): Promise<void> {
    const connection = { id, partition, reason: 'connection_disconnected' as const };
    const stopped = await this.#stage.sent(
      this.#db.transaction(async (tx) => {
        const locked = await lockIdleConnection(tx, id);
        if (typeof locked !== 'object') return true;
        for (const { key } of await runningOf(tx, id)) this.#ledger.breach(`a connection was given while ${key} ran`);
        await this.#stage.holdUp(`the ${kind} of a connection commits`);
        for (const { key } of await runningOf(tx, id)) this.#ledger.breach(`${key} ran while its connection was given`);
        return kind === 'change' || stopWork(tx, connection);
      }),
    );
    if (!stopped) await this.#stage.sent(stopRest(this.#db, connection, () => false));
  }

  /** Somebody's transaction has rows locked for a while: those that are free, so that it waits for nobody who waits for it. */
  async lock({ id }: { id: string }): Promise<void> {
    await this.#stage.sent(
      this.#db.transaction(async (tx) => {
        await tx.query('lockJob', 'select 1 from pgboss.job_common where id = $1 for update skip locked', [id]);
        await tx.query(
          'lockOperations',
          `select 1 from operation where connection_id = $1 and status in ('queued', 'running') order by id for update skip locked`,
          [id],
        );
        await this.#stage.holdUp('rows of a connection are free again');
      }),
    );
  }

  /** The database comes back without the last commits of what runs of a connection. */
  async loseStart(connectionId: string, which: 'past_boundary' | 'not past_boundary'): Promise<void> {
    const rows = await this.#stage.sent(
      this.#db.query<{ key: string }>(
        `loseStart ${which}`,
        `update operation set status = 'queued', epoch = null, attempts = '[]', timeline = jsonb_build_array(timeline -> 0)
         where connection_id = $1 and status = 'running'
           and ${which.replace('past_boundary', `coalesce(attempts -> -1 ->> 'phase' = 'dispatching', false)`)}
         returning idempotency_key as key`,
        [connectionId],
      ),
    );
    for (const { key } of rows) {
      this.#stage.note(`the database has lost the start of ${key}`);
      const entry = this.#ledger.entries.get(key);
      if (!entry) continue;
      entry.startLost = true;
      entry.boundaryLost ||= which === 'past_boundary';
    }
  }
}
