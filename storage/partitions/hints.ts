import type { Sql } from '../postgres/database.js';

/** The channel on which nodes send each other hints. */
export const HINT_CHANNEL = 'connection_service_signal';

/** On which a node tells all others that an operation is awaited at it. Nodes of a version that sends no wake-ups do not listen to it. */
export const WAIT_CHANNEL = 'connection_service_wait';

/** On which one node is told that an operation which is awaited at it may have ended. */
export const wakeChannel = (nodeId: string): string => `connection_service_wake_${nodeId}`;

/** What a channel's listeners get; under 8000 bytes. */
export interface Notice {
  channel: string;
  payload: string;
}

/** Sends notices to whoever listens, in one transaction: one global lock for all. */
export async function notify(db: Sql, notices: Notice[]): Promise<void> {
  await db.query('notify', 'select pg_notify(c, p) from unnest($1::text[], $2::text[]) n(c, p)', [
    notices.map(({ channel }) => channel),
    notices.map(({ payload }) => payload),
  ]);
}

/** Sends hints to every listening node. */
export function notifyHints(db: Sql, payloads: string[]): Promise<void> {
  return notify(
    db,
    payloads.map((payload) => ({ channel: HINT_CHANNEL, payload })),
  );
}
