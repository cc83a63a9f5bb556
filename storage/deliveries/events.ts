import { ofKeptConnection } from '../model/kept-connection.js';
import type { RecordedEventType } from '../model/records.js';
import type { Sql } from '../postgres/database.js';
import { eventDataContext } from '../secrets/sealing.js';
import type { CallbackEvent } from './deliveries.js';

export interface EventSummary {
  id: string;
  provider_event_id: string;
  type: RecordedEventType;
  received_at: Date;
}

export interface EventRow extends EventSummary {
  workspace_id: string;
  connection_id: string;
  connection_reference: string | null;
  /** Not sealed, or null; `dataOf` gives either. */
  data: Record<string, unknown> | null;
  data_sealed: Buffer | null;
}

/** How many newer ones a list of events had, with those that are erased: the offset of the page that begins with it. */
export interface Placed {
  place: number;
}

const COUNT = '(select event_count from event_list where connection_id = $1)';
const PAGE = `from event_position where connection_id = $1 and rank <= ${COUNT} - $2 order by rank desc limit $3`;

/**
 * Newest first, `limit` of them after `offset`. An offset is arithmetic on ranks, which are never given again, so every page costs the same,
 * and what is erased meanwhile moves nothing. Arrays, not a join: their size does not depend on how many rows the planner takes an
 * unknown limit for.
 */
export function listEvents(
  sql: Sql,
  connectionId: string,
  offset: number,
  limit: number,
): Promise<(EventSummary & Placed)[]> {
  return sql.query<EventSummary & Placed>(
    'listEvents',
    `select e.id, e.provider_event_id, e.type, e.received_at, ${COUNT} - p.rank as place
     from unnest(array(select event_id ${PAGE}), array(select rank ${PAGE})) p(event_id, rank)
     join event e on e.id = p.event_id order by p.rank desc`,
    [connectionId, offset, limit],
  );
}

/** These events, whatever their workspace; the caller compares it. */
export function findEvents(sql: Sql, ids: string[]): Promise<EventRow[]> {
  return sql.query<EventRow>(
    'findEvents',
    `select id, workspace_id, connection_id, provider_event_id, type, received_at, data, data_sealed,
       (select c.reference from connection c where c.id = e.connection_id) as connection_reference
     from event e where id = any($1::uuid[]) and ${ofKeptConnection('e.connection_id')}`,
    [ids],
  );
}

/** The event as its callbacks tell it; undefined when it is gone. */
export async function findCallbackEvent(sql: Sql, id: string): Promise<CallbackEvent | undefined> {
  const [row] = await sql.query<CallbackEvent>(
    'findCallbackEvent',
    `select id as event_id, type as event_type, connection_id, provider_event_id, received_at, data::text as event_data,
       data_sealed as event_data_sealed
     from event where id = $1`,
    [id],
  );
  return row;
}

/** What the event says. Throws KeyUnknown when the node lacks the key that it is sealed under. */
export function dataOf({ vault }: Sql, { id, data, data_sealed }: EventRow): Record<string, unknown> {
  return vault.openValue({ plain: data, sealed: data_sealed }, eventDataContext(id)) ?? {};
}
