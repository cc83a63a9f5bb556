import typia, { type tags } from 'typia';
import { PROVIDERS } from '../../actors/provider-traits.js';
import type { ConnectionRef } from '../../storage/connections/connections.js';
import { findListener, type GapRow, type ListenerRow, listGaps } from '../../storage/connections/listener-read.js';
import { HttpError } from '../../storage/model/errors.js';
import type { Health } from '../../storage/model/records.js';
import { type Answer, json } from '../http/answer.js';
import type { Count, Timestamp, Uuid } from '../http/fields.js';
import { LIMITS } from '../http/limits.js';
import { type Call, type Route, route } from '../http/route.js';
import { connectionRefResource } from './resources.js';

/** Stream and continuity health (contract: "Listener"). A connected stream does not prove that an earlier gap was filled. */
export interface ListenerJson {
  stream_status: 'stopped' | 'connecting' | 'connected' | 'degraded';
  connection_health: Health;
  continuity_status: 'continuous' | 'gap_open' | 'unknown';
  open_gap_count: Count;
  last_frame_at: Timestamp | null;
  last_confirmed_at: Timestamp | null;
  status: string;
  reason: string | null;
  last_event_id: string | null;
  last_event_at: Timestamp | null;
  heartbeat_at: Timestamp | null;
  /** Newest first. */
  gaps: GapJson[] & tags.MaxItems<typeof LIMITS.listener_gaps_rows>;
}

export interface GapJson {
  id: Uuid;
  reason: string;
  last_event_id: string | null;
  started_at: Timestamp;
  closed_at: Timestamp | null;
}

type Stream = Pick<ListenerJson, 'stream_status' | 'status' | 'reason' | 'continuity_status'>;

/** The listener's current state. It runs only while the connection is ready: its row may show an earlier state (EVT-9). */
function streamOf(row: ListenerRow): Stream {
  // A simulated connection gets its events without a stream (CONN-3).
  if (!PROVIDERS[row.provider].streamsEvents) {
    return { stream_status: 'connected', status: 'running', reason: null, continuity_status: 'continuous' };
  }
  const continuity_status = row.continuity_status ?? 'unknown';
  if (row.health !== 'ready') {
    return { stream_status: 'stopped', status: 'stopped', reason: 'connection_not_ready', continuity_status };
  }
  const stream_status = row.stream_status ?? 'stopped';
  return { stream_status, status: row.status ?? 'stopped', reason: row.reason, continuity_status };
}

function listenerJson(row: ListenerRow, gaps: GapRow[]): ListenerJson {
  const time = (at: Date | null) => at?.toISOString() ?? null;
  return {
    ...streamOf(row),
    connection_health: row.health,
    open_gap_count: row.open_gap_count,
    last_frame_at: time(row.last_frame_at),
    last_confirmed_at: time(row.last_confirmed_at),
    last_event_id: row.last_event_id ?? row.newest_event_id,
    last_event_at: time(row.last_event_at ?? row.newest_event_at),
    heartbeat_at: time(row.heartbeat_at),
    gaps: gaps.map(({ id, reason, last_event_id, started_at, closed_at }) => ({
      id,
      reason,
      last_event_id,
      started_at: started_at.toISOString(),
      closed_at: time(closed_at),
    })),
  };
}

async function get({ db, resource }: Call<ConnectionRef, undefined, undefined>): Promise<Answer> {
  const [row, gaps] = await Promise.all([
    findListener(db, resource.id),
    listGaps(db, resource.id, LIMITS.listener_gaps_rows),
  ]);
  if (!row) throw new HttpError('not_found');
  return json(200, listenerJson(row, gaps));
}

export const listenerRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/v1/connections/{connection_id}/listener',
    summary: 'Stream and continuity health of a connection',
    scopes: ['events:read'],
    body: { kind: 'none' },
    resource: connectionRefResource,
    answers: { 200: { description: 'The listener.', schema: typia.json.schemas<[ListenerJson]>() } },
    handle: get,
  }),
];
