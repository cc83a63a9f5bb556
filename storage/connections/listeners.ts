import { LIMITS } from '../limits.js';
import { newId } from '../model/new-id.js';
import type { EventType } from '../model/records.js';
import type { Sql } from '../postgres/database.js';

/** A connection as its listener needs it. */
export interface ListenableConnection {
  id: string;
  workspace_id: string;
  partition: number;
  state_revision: number;
  region: string;
  proxy_id: string;
  session_sealed: Buffer;
}

/** The same of a connection that may have lost its pin: it has a stream again with the next one. */
export type UnpinnedConnection = Omit<ListenableConnection, 'proxy_id'> & { proxy_id: string | null };

export const isPinned = (connection: UnpinnedConnection): connection is ListenableConnection =>
  connection.proxy_id !== null;

const HAS_SESSION = `provider = 'social' and health = 'ready' and session_sealed is not null`;
const HAS_STREAM = `${HAS_SESSION} and proxy_id is not null`;
const COLUMNS = 'id, workspace_id, partition, state_revision, region, proxy_id, session_sealed';

/** Every connection of these partitions that has a stream to listen to. Index: connection_by_partition. */
export function listenableConnections(db: Sql, partitions: number[]): Promise<ListenableConnection[]> {
  return db.query(
    'listenableConnections',
    `select ${COLUMNS} from connection where ${HAS_STREAM} and partition = any($1)`,
    [partitions],
  );
}

/** This connection, when it has a session to listen with. */
export async function listenableConnection(db: Sql, id: string): Promise<UnpinnedConnection | undefined> {
  const [row] = await db.query<UnpinnedConnection>(
    'listenableConnection',
    `select ${COLUMNS} from connection where ${HAS_SESSION} and id = $1`,
    [id],
  );
  return row;
}

/** What a listener listens with: when it changes, it takes another listener. */
export type ListenedSession = Pick<UnpinnedConnection, 'id' | 'state_revision' | 'proxy_id'>;

/** What the listeners of these partitions should listen with: the poll behind a lost hint. Index: connection_by_partition. */
export function listenableSessions(db: Sql, partitions: number[]): Promise<ListenedSession[]> {
  return db.query(
    'listenableSessions',
    `select id, state_revision, proxy_id from connection where ${HAS_STREAM} and partition = any($1)`,
    [partitions],
  );
}

export interface ListenerState {
  connectionId: string;
  epoch: number;
  streamStatus: 'stopped' | 'connecting' | 'connected' | 'degraded';
  status: 'running' | 'stopped';
  reason: string | null;
  lastEventId: string | null;
  lastFrameAt: Date | null;
}

/**
 * Stores the state of a listener. An older epoch writes nothing, nor does the listener of a connection that is gone. The row says
 * `continuous` while connected; who reads it looks for open gaps (`findListener`).
 */
export async function saveListener(db: Sql, state: ListenerState): Promise<void> {
  await db.query(
    'saveListener',
    `insert into listener as l (connection_id, stream_status, status, reason, continuity_status, epoch, last_event_id,
       last_event_at, last_frame_at, last_confirmed_at, heartbeat_at)
     select c.id, $2, $3, $4,
       case when $2 = 'connected' then 'continuous' else 'unknown' end,
       $5, $6, case when $6::text is not null then now() end, $7, case when $2 = 'connected' then now() end, now()
     from connection c where c.id = $1
     on conflict (connection_id) do update set stream_status = excluded.stream_status, status = excluded.status,
       reason = excluded.reason, continuity_status = excluded.continuity_status, epoch = excluded.epoch,
       last_event_id = coalesce(excluded.last_event_id, l.last_event_id),
       last_event_at = case when excluded.last_event_id is distinct from l.last_event_id
         then coalesce(excluded.last_event_at, l.last_event_at) else l.last_event_at end,
       last_frame_at = coalesce(excluded.last_frame_at, l.last_frame_at),
       last_confirmed_at = coalesce(excluded.last_confirmed_at, l.last_confirmed_at), heartbeat_at = now()
     where l.epoch <= excluded.epoch`,
    [
      state.connectionId,
      state.streamStatus,
      state.status,
      state.reason,
      state.epoch,
      state.lastEventId,
      state.lastFrameAt,
    ],
  );
}

/**
 * The connection, while no later owner has its partition: the stream that an earlier one saw end is no longer the connection's. The
 * partition's row is locked, so a take-over comes before and is seen, or waits.
 */
const owned = (connection: string, epoch: string) => `owned as materialized (
       select c.id from connection c join partition p on p.id = c.partition
       where c.id = ${connection} and p.epoch <= ${epoch} for key share of p
     )`;

/**
 * Opens a gap unless one is open already, from now on; or from the last heartbeat of the listener, when nobody saw its stream end
 * (`unseen`). Returns the open one, and whether this opened it; undefined when a later owner listens.
 */
export async function openGap(
  db: Sql,
  connectionId: string,
  epoch: number,
  reason: string,
  unseen = false,
): Promise<{ id: string; opened: boolean } | undefined> {
  const [row] = await db.query<{ id: string; opened: boolean }>(
    'openGap',
    `with ${owned('$2', '$3')}, opened as (
       insert into listener_gap (id, connection_id, reason, last_event_id, started_at)
       select $1, c.id, $4, l.last_event_id, case when $5 then coalesce(l.heartbeat_at, now()) else now() end
       from owned c left join listener l on l.connection_id = c.id
       on conflict do nothing returning id
     )
     select id, true as opened from opened
     union all select g.id, false from owned c join listener_gap g on g.connection_id = c.id and g.closed_at is null`,
    [newId(), connectionId, epoch, reason, unseen],
  );
  return row;
}

/** Closes the open gap, if there is one and no later owner listens. The events of the gap stay missing. */
export async function closeGap(db: Sql, connectionId: string, epoch: number): Promise<void> {
  await db.query(
    'closeGap',
    `with ${owned('$1', '$2')}
     update listener_gap g set closed_at = now() from owned c where g.connection_id = c.id and g.closed_at is null`,
    [connectionId, epoch],
  );
}

/**
 * Of the newest gaps of the connection, those that were closed lately and have no event of this type, whose provider id is the type with
 * the gap's id: the worker that closed them was lost before it recorded that.
 */
export async function closedGapsWithout(db: Sql, connectionId: string, type: EventType): Promise<string[]> {
  const rows = await db.query<{ id: string }>(
    'closedGapsWithout',
    `select g.id from (
       select id, closed_at from listener_gap where connection_id = $1 order by started_at desc limit $3) g
     where g.closed_at > now() - $4 * interval '1 hour' and not exists (
       select 1 from event e where e.connection_id = $1 and e.provider_event_id = $2 || '/' || g.id)`,
    [connectionId, type, LIMITS.examined_gaps, LIMITS.examined_gap_hours],
  );
  return rows.map((row) => row.id);
}

/** True when a listener of another owner ran for this connection: its stream ended unseen. */
export async function listenedBefore(db: Sql, connectionId: string): Promise<boolean> {
  const rows = await db.query(
    'listenedBefore',
    `select 1 from listener where connection_id = $1 and status = 'running'`,
    [connectionId],
  );
  return rows.length > 0;
}
