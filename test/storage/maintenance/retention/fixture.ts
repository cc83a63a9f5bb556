import { v7 as uuidv7 } from 'uuid';
import type { RetentionDays } from '../../../../storage/maintenance/retention/classes.js';
import { type Turn, takeTurn } from '../../../../storage/maintenance/retention/turn.js';
import type { OperationStatus } from '../../../../storage/model/records.js';
import type { Database, Sql } from '../../../../storage/postgres/database.js';

export const daysAgo_ms = (days: number): number => Date.now() - days * 24 * 60 * 60_000;

/** Settings with these days alone. */
export const onlyDays = (days: Partial<RetentionDays>): RetentionDays => ({
  ...{ gaps: null, attempts: null, deliveries: null, events: null },
  ...{ inputs: null, results: null, operations: null, tombstones: null },
  ...days,
});

/** Runs slices without a pause until a round is through; gives what went, by class. */
export async function eraseAll(db: Database, days: Partial<RetentionDays>): Promise<Record<string, number>> {
  const erased: Record<string, number> = {};
  for (let through = false; !through; ) {
    const turn = await nextTurn(db, onlyDays(days));
    if (turn) erased[turn.class] = (erased[turn.class] ?? 0) + turn.erased;
    through = turn?.last ?? true;
  }
  return erased;
}

/** Runs the next slice, without the pause before it. */
export async function nextTurn(db: Database, days: RetentionDays): Promise<Turn | undefined> {
  await letTurn(db);
  return takeTurn(db, days);
}

/** Lets the next slice be due; one that is under way stays undisturbed. */
export async function letTurn(db: Database): Promise<void> {
  await db.query('testDue', 'update retention_turn set due_at = now() where due_at > now()');
}

/** A subscription that no request has made. */
export async function insertSubscription(db: Sql, connectionId: string): Promise<string> {
  const id = uuidv7();
  await db.query(
    'testSubscription',
    `insert into subscription (id, workspace_id, connection_id, partition, event_types, callback_url, active, secret_sealed)
     select $1, workspace_id, id, partition, '{message_received}', 'https://receiver.test/', true, '' from connection where id = $2`,
    [id, connectionId],
  );
  return id;
}

/** An attempt that was begun then; `sequence` is its number. */
export async function insertAttempt(db: Sql, deliveryId: string, sequence: number, at_ms: number): Promise<string> {
  const id = uuidv7({ msecs: at_ms });
  await db.query(
    'testAttempt',
    `insert into delivery_attempt (id, delivery_id, sequence, outcome, status_code, error, started_at, completed_at)
     values ($1, $2, $3, 'failed', 500, 'status', $4, $4)`,
    [id, deliveryId, sequence, new Date(at_ms)],
  );
  return id;
}

/** A gap that was opened then; null: that is open. */
export async function insertGap(
  db: Sql,
  connectionId: string,
  opened_ms: number,
  closed_ms: number | null,
): Promise<string> {
  const id = uuidv7({ msecs: opened_ms });
  await db.query(
    'testGap',
    `insert into listener_gap (id, connection_id, reason, started_at, closed_at) values ($1, $2, 'stream_closed', $3, $4)`,
    [id, connectionId, new Date(opened_ms), closed_ms === null ? null : new Date(closed_ms)],
  );
  return id;
}

export async function idsOf(db: Sql, table: string): Promise<string[]> {
  const rows = await db.query<{ id: string }>(`testIds.${table}`, `select id from ${table} order by id`);
  return rows.map(({ id }) => id);
}

/** An operation that was accepted and last changed so many days ago, under its status as its key. */
export async function insertOld(
  db: Database,
  connectionId: string,
  status: OperationStatus,
  accepted: number,
  changed = accepted,
): Promise<string> {
  const id = uuidv7({ msecs: daysAgo_ms(accepted) });
  await db.query(
    'testOld',
    `insert into operation (id, workspace_id, connection_id, partition, capability, status, idempotency_key, fingerprint, input, result,
       error_code, epoch, challenge, updated_at)
     select $1, workspace_id, id, partition, 'social.profile.get', $3, $3 || '-' || $5, '\\x00', '{}', '{}',
       case when $3 = 'failed' then 'upstream_error' end, 1, case when $3 = 'waiting_user' then '{}'::jsonb end, $4
     from connection where id = $2`,
    [id, connectionId, status, new Date(daysAgo_ms(changed)), changed],
  );
  return id;
}
