import type { Sql } from './database.js';
import type { EventType } from './records.js';

export interface EventSummary {
  id: string;
  provider_event_id: string;
  type: EventType;
  received_at: Date;
}

export interface EventRow extends EventSummary {
  workspace_id: string;
  connection_id: string;
  data: Record<string, unknown>;
}

/**
 * Newest first, `limit` of them after `offset`. What the offset skips is read from the index alone (event_by_connection; ids
 * are in order of arrival), and only the page's rows are fetched. An array, not a join: its size does not depend on how many
 * rows the planner takes an unknown limit for.
 */
export function listEvents(sql: Sql, connectionId: string, offset: number, limit: number): Promise<EventSummary[]> {
  return sql.query<EventSummary>(
    'listEvents',
    `select id, provider_event_id, type, received_at from event
     where id = any(array(select id from event where connection_id = $1 order by id desc offset $2 limit $3))
     order by id desc`,
    [connectionId, offset, limit],
  );
}

/** These events, whatever their workspace; the caller compares it. */
export function findEvents(sql: Sql, ids: string[]): Promise<EventRow[]> {
  return sql.query<EventRow>(
    'findEvents',
    `select id, workspace_id, connection_id, provider_event_id, type, received_at, data from event
     where id = any($1::uuid[])`,
    [ids],
  );
}
