import { LIMITS } from '../limits.js';
import type { Sql } from '../postgres/database.js';

/** Something that somebody has to look at. */
export interface AttentionRow {
  id: string;
  name: string | null;
  /** The connection that it concerns, where it is one. */
  connection_id: string | null;
  /** What is known of the cause: a code, or a number. */
  cause: string | null;
  since: Date;
}

/** Those of one kind: the longest there first, `LIMITS.attention_shown` at most, and how many there are, up to `LIMITS.attention_counted`. */
export interface AttentionRows {
  rows: AttentionRow[];
  count: number;
  more: boolean;
}

/** Unknown outcomes that nobody has looked at; the cause is the capability. Index: unknown_outcome_by_workspace. */
export const unknownOutcomes: Attention = (sql, workspaceId) =>
  attention(sql, 'attentionUnknown', [workspaceId], {
    found: 'select operation_id as id, since from unknown_outcome where workspace_id = $1',
    columns: 'c.id as connection_id, c.actor_id as name, o.capability as cause',
    joins: 'join operation o on o.id = f.id join connection c on c.id = o.connection_id',
  });

/** Operations that wait for their user; the cause is the kind of challenge. Index: waiting_operation_by_workspace. */
export const waitingOperations: Attention = (sql, workspaceId) =>
  attention(sql, 'attentionWaiting', [workspaceId], {
    found: 'select operation_id as id, since from waiting_operation where workspace_id = $1',
    columns: `c.id as connection_id, c.actor_id as name, o.challenge ->> 'kind' as cause`,
    joins: 'join operation o on o.id = f.id join connection c on c.id = o.connection_id',
  });

/** Connections that are not ready; the cause is the reason of their health. Index: connection_unready. */
export const unreadyConnections: Attention = (sql, workspaceId) =>
  attention(sql, 'attentionUnready', [workspaceId], {
    found: `select id, coalesce(health_since, created_at) as since from connection
      where workspace_id = $1 and health <> 'ready' and deleted_at is null`,
    order: 'health_since',
    columns: 'c.id as connection_id, c.actor_id as name, coalesce(c.health_reason, c.health) as cause',
    joins: 'join connection c on c.id = f.id',
  });

/** Which subscription has a delivery (`d`) for callers: it is of a connection, or of the workspace. */
const OWNER = 'coalesce(d.parent_id, d.subscription_id)';
/** Of a subscription (`s`): whose events it gets. */
const ACCOUNT = `case when s.connection_id is null then 'All connections' else c.actor_id end`;

/**
 * Subscriptions with deliveries that nobody tries any more; the cause is the error of one of them. One step of the index a
 * subscription, however many deliveries it has: delivery_exhausted.
 */
export const exhaustedSubscriptions: Attention = (sql, workspaceId) =>
  attention(sql, 'attentionExhausted', [workspaceId], {
    recursive: `subscriptions(id) as (
      (select ${OWNER} from delivery d where workspace_id = $1 and status = 'failed' order by 1 limit 1)
      union all
      select (select ${OWNER} from delivery d
        where d.workspace_id = $1 and d.status = 'failed' and ${OWNER} > s.id order by 1 limit 1)
      from subscriptions s where s.id is not null
    )`,
    // The limit of what reads it stops the walk.
    found: 'select id, null::timestamptz as since from subscriptions where id is not null',
    order: null,
    since: 'coalesce(l.since, e.received_at)',
    columns: `c.id as connection_id, ${ACCOUNT} as name, l.last_error as cause`,
    joins: `join subscription s on s.id = f.id and s.deleted_at is null left join connection c on c.id = s.connection_id
      cross join lateral (
        select d.event_id, d.last_error, (select max(a.completed_at) from delivery_attempt a where a.delivery_id = d.id) as since
        from delivery d where d.workspace_id = $1 and ${OWNER} = f.id and d.status = 'failed' order by d.id limit 1) l
      join event e on e.id = l.event_id`,
  });

/** Subscriptions whose destination does not answer; the cause is why. Index: subscription_active_destination, a step a paused destination. */
export const pausedSubscriptions: Attention = (sql, workspaceId) =>
  attention(sql, 'attentionPaused', [workspaceId], {
    found: `select s.id, p.since from (select * from callback_pause limit ${LIMITS.attention_pauses}) p cross join lateral (
        select id from subscription where workspace_id = $1 and destination = p.destination and active and parent_id is null offset 0) s`,
    columns: `c.id as connection_id, ${ACCOUNT} as name, p.reason as cause`,
    joins: `join subscription s on s.id = f.id left join connection c on c.id = s.connection_id
      join callback_pause p on p.destination = s.destination`,
  });

/** Subscriptions that have been on hold for `LIMITS.attention_hold_h`: what is due waits, and somebody may have forgotten it. Index: subscription_held. */
export const heldSubscriptions: Attention = (sql, workspaceId) =>
  attention(sql, 'attentionHeld', [workspaceId, LIMITS.attention_hold_h], {
    found: `select id, held_at as since from subscription where workspace_id = $1 and held_at < now() - $2 * interval '1 hour'
      and active and deleted_at is null`,
    columns: `c.id as connection_id, ${ACCOUNT} as name, null as cause`,
    joins: 'join subscription s on s.id = f.id left join connection c on c.id = s.connection_id',
  });

/** Keys that end to work within so many days, none within 0, since that many before; the cause is when. Index: api_key_expiring. */
export const expiringKeys = (sql: Sql, workspaceId: string, days: number): Promise<AttentionRows> =>
  attention(sql, 'attentionKeys', [workspaceId, days], {
    found: `select id, expires_at - $2 * interval '1 day' as since from api_key where workspace_id = $1 and revoked_at is null
      and expires_at is not null and expires_at > now() and expires_at < now() + $2 * interval '1 day'`,
    columns: `k.name, null::uuid as connection_id, to_char(k.expires_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as cause`,
    joins: 'join api_key k on k.id = f.id',
  });

/** Of one workspace. */
export type Attention = (sql: Sql, workspaceId: string) => Promise<AttentionRows>;

interface AttentionSql {
  /** A walk that `found` reads. */
  recursive?: string;
  /** Ids, and since when each has been there. */
  found: string;
  /** What is the longest there by; absent: `since`. */
  order?: string | null;
  /** Absent: as found. */
  since?: string;
  columns: string;
  joins: string;
}

/** Reads no more rows than are counted, and of those that are shown what else is told of them. */
async function attention(
  sql: Sql,
  name: string,
  values: unknown[],
  { recursive, found, order = 'since', since = 'f.since', columns, joins }: AttentionSql,
): Promise<AttentionRows> {
  const sorted = order === null ? '' : `order by ${order}`;
  const rows = await sql.query<AttentionRow & { count: number }>(
    name,
    `with ${recursive ? `recursive ${recursive},` : ''} found as materialized (
       ${found} ${sorted} limit ${LIMITS.attention_counted + 1}
     ), shown as materialized (select id, since from found ${order === null ? '' : 'order by since'} limit ${LIMITS.attention_shown})
     select f.id, ${since} as since, ${columns}, (select count(*)::int from found) as count from shown f ${joins} order by 2, f.id`,
    values,
  );
  const count = rows[0]?.count ?? 0;
  return {
    rows: rows.map(({ id, name: called, connection_id, cause, since }) => ({
      id,
      name: called,
      connection_id,
      cause,
      since,
    })),
    count: Math.min(count, LIMITS.attention_counted),
    more: count > LIMITS.attention_counted,
  };
}
