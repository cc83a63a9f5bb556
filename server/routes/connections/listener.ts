import typia, { type tags } from 'typia';
import { LIMITS as STREAM } from '../../../actors/limits.js';
import { PROVIDERS } from '../../../actors/provider-traits.js';
import type { ConnectionRef } from '../../../storage/connections/connections.js';
import { findListener, type GapRow, type ListenerRow, listGaps } from '../../../storage/connections/listener-read.js';
import { HttpError } from '../../../storage/model/errors.js';
import type { Health } from '../../../storage/model/records.js';
import { type Answer, json } from '../../http/answer.js';
import type { Count, Timestamp, Uuid } from '../../http/fields.js';
import { LIMITS } from '../../http/limits.js';
import { type Call, type Route, route } from '../../http/route.js';
import { connectionRefResource } from '../resources.js';

/**
 * Stream and continuity health of a connection (contract: "Listener"). A connected stream does not prove that an earlier gap was
 * filled.
 */
export interface ListenerJson {
  /**
   * How the stream stands: `stopped`, nobody listens; `connecting`, one tries; `connected`, frames come; `degraded`, it is
   * interrupted, or nobody listens who should.
   */
  stream_status: 'stopped' | 'connecting' | 'connected' | 'degraded';
  /** Health of the connection; it is listened to while it is `ready`. */
  connection_health: Health;
  /** Whether events can be missing: `continuous`, no; `gap_open`, the stream is interrupted now; `unknown`, nobody can tell. */
  continuity_status: 'continuous' | 'gap_open' | 'unknown';
  /** How many gaps have not ended. */
  open_gap_count: Count;
  /** When the stream last said anything, null when it never did. */
  last_frame_at: Timestamp | null;
  /** When the stream was last known to be whole, null when it never was. */
  last_confirmed_at: Timestamp | null;
  /** State of the one who listens, such as `running` or `stopped`. */
  status: string;
  /** Why nobody listens or the stream is interrupted, null when neither is so. */
  reason: string | null;
  /** `provider_event_id` of the last event, null when there is none. */
  last_event_id: string | null;
  /** When that event was recorded, null when there is none. */
  last_event_at: Timestamp | null;
  /** When the one who listens last showed that it is there, null when it never did. */
  heartbeat_at: Timestamp | null;
  /** Times without a stream, the newest first; at most 50. */
  gaps: GapJson[] & tags.MaxItems<typeof LIMITS.listener_gaps_rows>;
}

/** A time without a stream. */
export interface GapJson {
  /** Id of the gap. */
  id: Uuid;
  /** Why the stream was interrupted. */
  reason: string;
  /** `provider_event_id` of the last event before it, null when there was none. */
  last_event_id: string | null;
  /** When it began. */
  started_at: Timestamp;
  /** When it ended, null while it lasts. */
  closed_at: Timestamp | null;
}

type Stream = Pick<ListenerJson, 'stream_status' | 'status' | 'reason' | 'continuity_status'>;

/**
 * What the listener does now. It runs while the connection is ready: what its row says counts only while somebody may have said it
 * lately (EVT-9).
 */
function streamOf(row: ListenerRow): Stream {
  // A simulated connection gets its events without a stream (CONN-3).
  const streams = PROVIDERS[row.provider].streamsEvents;
  if (row.health !== 'ready') return { ...nobody('stopped', 'connection_not_ready'), continuity_status: unseen(row) };
  if (!streams) {
    return { stream_status: 'connected', status: 'running', reason: null, continuity_status: 'continuous' };
  }
  const lost = lossOf(row);
  if (lost) return { ...nobody('degraded', lost), continuity_status: unseen(row) };
  const { stream_status, status, reason, continuity_status } = row;
  return {
    stream_status: stream_status ?? 'stopped',
    status: status ?? 'stopped',
    reason,
    continuity_status: continuity_status ?? 'unknown',
  };
}

const nobody = (stream_status: 'stopped' | 'degraded', reason: string) => ({
  ...{ stream_status, reason },
  status: 'stopped',
});

/** Why nobody listens to a ready connection; undefined while somebody does, or tries to. */
function lossOf({ pinned, alive, stream_status }: ListenerRow): string | undefined {
  if (!pinned) return 'regional_proxy_unavailable';
  if (stream_status === null || stream_status === 'stopped') return 'not_listening';
  return alive || stream_status === 'degraded' ? undefined : 'heartbeat_stale';
}

/** Continuity while nobody listens: what was continuous once proves nothing any more. */
function unseen({ provider, continuity_status }: ListenerRow): Stream['continuity_status'] {
  if (!PROVIDERS[provider].streamsEvents) return 'continuous';
  return continuity_status === 'gap_open' ? 'gap_open' : 'unknown';
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
    findListener(db, resource.id, STREAM.stream_stale_ms),
    listGaps(db, resource.id, LIMITS.listener_gaps_rows),
  ]);
  if (!row) throw new HttpError('not_found');
  return json(200, listenerJson(row, gaps));
}

export const listenerRoutes: Route[] = [
  route({
    method: 'GET',
    operationId: 'getListener',
    path: '/v1/connections/{connection_id}/listener',
    summary: 'Get the event stream of a connection',
    description:
      'Reads how the event stream of a connection stands, and the gaps in which events may have been missed.',
    scopes: ['events:read'],
    body: { kind: 'none' },
    resource: connectionRefResource,
    answers: { 200: { description: 'The listener.', schema: typia.json.schemas<[ListenerJson]>() } },
    handle: get,
  }),
];
