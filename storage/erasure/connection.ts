import { setTimeout as delay } from 'node:timers/promises';
import { lockIdleConnection, markDeleted } from '../connections/connection-changes.js';
import { stopWork } from '../connections/stopping.js';
import { LIMITS } from '../limits.js';
import { Removals, type RemovalsOptions } from '../maintenance/removals.js';
import type { Transaction } from '../postgres/database.js';

/** An operation of the connection runs or waits, or another transaction holds it. */
export class ConnectionBusy extends Error {}

/**
 * Deletes the connection as a client would (CONN-7): it is hidden from the commit on. One that was deleted before is as well. Gives its
 * workspace; undefined when nothing of it is left.
 * @throws ConnectionBusy out of the transaction, whose statement may have failed: roll it back
 */
export async function hideConnection(tx: Transaction, id: string): Promise<string | undefined> {
  const connection = await lockIdleConnection(tx, id);
  if (connection === 'busy' || connection === 'locked') throw new ConnectionBusy(id);
  if (connection) {
    await markDeleted(tx, id);
    await stopWork(tx, { id, partition: connection.partition, reason: 'connection_deleted' });
  }
  const [row] = await tx.query<{ workspace_id: string }>(
    'hiddenConnection',
    'select workspace_id from connection where id = $1',
    [id],
  );
  return row?.workspace_id;
}

/**
 * Waits until nothing of these hidden connections is left, and removes it where no node does: with what else was deleted, and no sooner than
 * a submission under way finds the hash of its key (`Removals`). `waiting` is told after each look how many are left.
 */
export async function awaitRemoval(
  options: RemovalsOptions,
  ids: readonly string[],
  waiting: (left: number) => void,
): Promise<void> {
  const { db } = options;
  const removals = new Removals(options);
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
