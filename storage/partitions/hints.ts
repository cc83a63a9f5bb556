import type { Sql } from '../postgres/database.js';

/** The channel nodes signal each other on. */
export const SIGNAL_CHANNEL = 'connection_service_signal';

/** Sends payloads (under 8000 bytes each) to every listening node, in one transaction: one global lock for all. */
export async function notifySignals(db: Sql, payloads: string[]): Promise<void> {
  await db.query('notifySignals', 'select pg_notify($2, p) from unnest($1::text[]) p', [payloads, SIGNAL_CHANNEL]);
}
