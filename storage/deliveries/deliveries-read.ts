import { ofKeptConnection } from '../model/kept-connection.js';
import {
  DELIVERY_STATUSES,
  type DeliveryAttemptOutcome,
  type DeliveryStatus,
  type RecordedEventType,
} from '../model/records.js';
import { DELIVERY_ATTEMPT_STEPS } from '../model/transitions.js';
import type { Sql } from '../postgres/database.js';
import type { Placed } from './events.js';
import { hiddenMembers } from './hidden-members.js';
import type { SubscriptionRow } from './subscriptions.js';

/** A delivery as callers see it (contract: "Delivery"). */
export interface DeliveryRow {
  id: string;
  workspace_id: string;
  subscription_id: string;
  connection_id: string;
  event_id: string;
  event_type: RecordedEventType;
  received_at: Date;
  status: DeliveryStatus;
  attempt_count: number;
  replay_count: number;
  next_attempt_at: Date | null;
  delivered_at: Date | null;
  last_error: string | null;
}

export interface DeliveryAttemptRow {
  id: string;
  sequence: number;
  outcome: DeliveryAttemptOutcome;
  status_code: number | null;
  error: string | null;
  started_at: Date;
  completed_at: Date | null;
}

const COLUMNS = `d.id, d.workspace_id, coalesce(d.parent_id, d.subscription_id) as subscription_id, s.connection_id, d.event_id, e.type as event_type, e.received_at, d.status,
  d.attempt_count, d.replay_count, d.next_attempt_at, d.delivered_at, d.last_error`;
// `offset` keeps it to a look-up for each row that is shown: the planner would read all events of a small table.
const JOINED =
  'join subscription s on s.id = d.subscription_id cross join lateral (select type, received_at from event where id = d.event_id offset 0) e';
const ROWS = `delivery d ${JOINED}`;

/**
 * Newest event first. Without a status, an offset is arithmetic on ranks (delivery_by_rank), which are never given again, so every page
 * costs the same, and what is erased meanwhile moves nothing. Within a status ranks have gaps: what the offset skips is read from the index
 * alone (delivery_by_status).
 */
export function listDeliveries(
  sql: Sql,
  { id: subscriptionId, connection_id }: Pick<SubscriptionRow, 'id' | 'connection_id'>,
  status: DeliveryStatus | null,
  offset: number,
  limit: number,
): Promise<(DeliveryRow & Placed)[]> {
  if (connection_id === null) return listDeliveriesOfMembers(sql, subscriptionId, status, offset, limit);
  if (status === null) {
    return sql.query<DeliveryRow & Placed>(
      'listDeliveries',
      `select ${COLUMNS}, s.delivery_count - d.rank as place from (
         select * from delivery where subscription_id = $1
           and rank <= (select delivery_count from subscription where id = $1) - $2
         order by rank desc limit $3) d ${JOINED}
       order by d.rank desc`,
      [subscriptionId, offset, limit],
    );
  }
  return sql.query<DeliveryRow & Placed>(
    'listDeliveriesByStatus',
    `with page as materialized (
       select event_id from delivery where subscription_id = $1 and status = (select $4::text) order by event_id desc offset $2 limit $3
     )
     select ${COLUMNS}, $2::bigint - 1 + row_number() over (order by d.event_id desc) as place from page p cross join lateral (
       select * from delivery where subscription_id = $1 and status = $4 and event_id = p.event_id limit 1) d ${JOINED}
     order by d.event_id desc`,
    [subscriptionId, offset, limit, status],
  );
}

/**
 * Those of all members of a subscription of the workspace, whose ranks are apart: what the offset skips is read from the index alone
 * (delivery_of_parent), but while rows of a deleted connection are left. Of an event there is one: of the member of its connection.
 */
async function listDeliveriesOfMembers(
  sql: Sql,
  parentId: string,
  status: DeliveryStatus | null,
  offset: number,
  limit: number,
): Promise<(DeliveryRow & Placed)[]> {
  const hidden = await hiddenMembers(sql, parentId);
  const kept = hidden.length === 0 ? '' : 'and subscription_id <> all($5::uuid[])';
  return sql.query<DeliveryRow & Placed>(
    hidden.length === 0 ? 'listDeliveriesOfMembers' : 'listDeliveriesOfKeptMembers',
    `with page as materialized (
       select n.* from unnest($4::text[]) o(status) cross join lateral (
         select status, event_id from delivery where parent_id = $1 and status = o.status ${kept} order by event_id desc limit $2::bigint + $3::bigint) n
       order by n.event_id desc offset $2 limit $3
     )
     select ${COLUMNS}, $2::bigint - 1 + row_number() over (order by d.event_id desc) as place from page p cross join lateral (
       select * from delivery where parent_id = $1 and status = p.status and event_id = p.event_id limit 1) d ${JOINED}
     order by d.event_id desc`,
    [parentId, offset, limit, status === null ? [...DELIVERY_STATUSES] : [status], ...(kept ? [hidden] : [])],
  );
}

/** These deliveries, whatever their workspace; the caller compares it. */
export function findDeliveries(sql: Sql, ids: string[]): Promise<DeliveryRow[]> {
  return sql.query<DeliveryRow>(
    'findDeliveries',
    `select ${COLUMNS} from ${ROWS}
     where d.id = any($1::uuid[]) and ${ofKeptConnection('s.connection_id')}
       and not exists (select from subscription o where o.id = coalesce(d.parent_id, d.subscription_id) and o.deleted_at is not null)`,
    [ids],
  );
}

const OPEN = DELIVERY_ATTEMPT_STEPS.firstSql;

/** Oldest first, over all series. One that is under way stands in the row of its delivery. */
export function listDeliveryAttempts(sql: Sql, deliveryId: string): Promise<DeliveryAttemptRow[]> {
  return sql.query<DeliveryAttemptRow>(
    'listDeliveryAttempts',
    `select id, sequence, outcome, status_code, error, started_at, completed_at from delivery_attempt where delivery_id = $1
     union all
     select d.attempt_id, d.attempt_count, ${OPEN}, null, null, d.attempt_started_at, null from delivery d
     where d.id = $1 and d.status = 'sending' and d.attempt_id is not null
       and not exists (select from delivery_attempt a where a.delivery_id = $1 and a.sequence = d.attempt_count)
     order by sequence`,
    [deliveryId],
  );
}
