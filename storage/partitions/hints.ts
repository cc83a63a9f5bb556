import type { Sql } from '../postgres/database.js';

/** The channel on which nodes send each other hints. */
export const HINT_CHANNEL = 'connection_service_signal';

/** Sends payloads (under 8000 bytes each) to every listening node, in one transaction: one global lock for all. */
export async function notifyHints(db: Sql, payloads: string[]): Promise<void> {
  await db.query('notifyHints', 'select pg_notify($2, p) from unnest($1::text[]) p', [payloads, HINT_CHANNEL]);
}
