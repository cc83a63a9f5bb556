import type { Health, Provider } from '../model/records.js';
import type { Sql } from '../postgres/database.js';
import { findsRow } from '../postgres/finds-row.js';

/** The stream of a connection as its row has it; every column is null before the listener ran for the first time. */
export interface ListenerRow {
  provider: Provider;
  health: Health;
  stream_status: 'stopped' | 'connecting' | 'connected' | 'degraded' | null;
  status: string | null;
  reason: string | null;
  continuity_status: 'continuous' | 'gap_open' | 'unknown' | null;
  last_event_id: string | null;
  last_event_at: Date | null;
  last_frame_at: Date | null;
  last_confirmed_at: Date | null;
  heartbeat_at: Date | null;
  /** Its listener was heard of lately, on the database's clock. */
  alive: boolean;
  /** The session has a proxy to leave through. */
  pinned: boolean;
  open_gap_count: number;
  /** The newest event of the connection, for providers without a stream. */
  newest_event_id: string | null;
  newest_event_at: Date | null;
}

export interface GapRow {
  id: string;
  reason: string;
  last_event_id: string | null;
  started_at: Date;
  closed_at: Date | null;
}

/** An open gap says more than what the listener stored last. */
const CONTINUITY = `case when ${findsRow('from listener_gap g where g.connection_id = c.id and g.closed_at is null')} then 'gap_open'
       else l.continuity_status end`;

/** The stream of this connection; undefined when the connection is gone. A heartbeat older than `stale_ms` is of a listener that is gone. */
export async function findListener(sql: Sql, connectionId: string, stale_ms: number): Promise<ListenerRow | undefined> {
  const [row] = await sql.query<ListenerRow>(
    'findListener',
    `select c.provider, c.health, l.stream_status, l.status, l.reason, ${CONTINUITY} as continuity_status, l.last_event_id, l.last_event_at,
       l.last_frame_at, l.last_confirmed_at, l.heartbeat_at, c.proxy_id is not null as pinned,
       coalesce(l.heartbeat_at > now() - $2 * interval '1 millisecond', false) as alive,
       (select count(*) from listener_gap g where g.connection_id = c.id and g.closed_at is null) as open_gap_count,
       e.provider_event_id as newest_event_id, e.received_at as newest_event_at
     from connection c left join listener l on l.connection_id = c.id
     left join lateral (select provider_event_id, received_at from event
       where connection_id = c.id order by id desc limit 1) e on true
     where c.id = $1 and c.deleted_at is null`,
    [connectionId, stale_ms],
  );
  return row;
}

/** Newest first. Index: listener_gap_by_connection. */
export function listGaps(sql: Sql, connectionId: string, limit: number): Promise<GapRow[]> {
  return sql.query<GapRow>(
    'listGaps',
    `select id, reason, last_event_id, started_at, closed_at from listener_gap
     where connection_id = $1 order by started_at desc, id desc limit $2`,
    [connectionId, limit],
  );
}
