import { setTimeout as delay } from 'node:timers/promises';
import { lockIdleConnection, markDeleted } from '../connections/connection-changes.js';
import { Removals } from '../connections/removals.js';
import { stopWork } from '../connections/stopping.js';
import { LIMITS } from '../limits.js';
import type { Logger } from '../log.js';
import type { Database, Sql } from '../postgres/database.js';

/** What a request to erase a connection finds. `busy`: an operation of it runs or waits, or another transaction holds it. */
export type HiddenConnection = 'hidden' | 'busy' | 'gone';

/**
 * Deletes the connection as a client would (CONN-7): it is hidden from the commit on. One that was deleted before is as well. Run it in a
 * transaction, and roll that back when it is busy.
 */
export async function hideConnection(tx: Sql, id: string): Promise<HiddenConnection> {
  const connection = await lockIdleConnection(tx, id);
  if (connection === 'busy' || connection === 'locked') return 'busy';
  if (!connection) {
    const there = await tx.query('isConnectionThere', 'select from connection where id = $1', [id]);
    return there.length > 0 ? 'hidden' : 'gone';
  }
  await markDeleted(tx, id);
  await stopWork(tx, { id, partition: connection.partition, reason: 'connection_deleted' });
  return 'hidden';
}

/**
 * Waits until nothing of these hidden connections is left, and removes it where no node does: with what else was deleted, and no sooner than
 * a submission under way finds the hash of its key (`Removals`). `waiting` is told after each look how many are left.
 */
export async function awaitRemoval(
  db: Database,
  log: Logger,
  ids: readonly string[],
  waiting: (left: number) => void,
): Promise<void> {
  const removals = new Removals({ db, log });
  removals.start();
  try {
    for (;;) {
      const left = await db.query('connectionsLeft', 'select from connection where id = any($1)', [ids]);
      if (left.length === 0) return;
      waiting(left.length);
      await delay(LIMITS.removal_poll_ms);
    }
  } finally {
    await removals.stop();
  }
}
