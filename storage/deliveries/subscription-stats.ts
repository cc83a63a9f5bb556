import { LIMITS } from '../limits.js';
import { DELIVERY_STATUSES, type DeliveryStatus } from '../model/records.js';
import type { Sql } from '../postgres/database.js';
import { hiddenMembers } from './hidden-members.js';
import { isShown } from './subscriptions.js';

/** How much of a subscription is read; see `LIMITS`. */
export interface StatsBounds {
  /** Deliveries of one status that are counted. */
  counted: number;
  /** Deliveries of each status whose attempts are read. */
  deliveries: number;
  /** Newest attempts of each of them. */
  attempts: number;
}

const BOUNDS: StatsBounds = {
  counted: LIMITS.stats_counted_deliveries,
  deliveries: LIMITS.stats_examined_deliveries,
  attempts: LIMITS.stats_attempts,
};

/** How the deliveries of one subscription fare. */
export interface SubscriptionStats {
  /** Null of one of all connections of the workspace. */
  connection_id: string | null;
  active: boolean;
  counts: Record<DeliveryStatus, number>;
  /** Statuses that have more deliveries than were counted. */
  counts_capped: DeliveryStatus[];
  in_flight: number;
  /** Since the event of the oldest pending delivery was received. */
  oldest_pending_s: number | null;
  last_delivered_at: Date | null;
  /** When the last of those that are `failed` became so. */
  last_failed_at: Date | null;
  last_24h: {
    /** Attempts that ended: `delivered`, the class of the error, `canceled` or `abandoned`. */
    attempts: Record<string, number>;
    /** How long those took that were answered or failed. */
    p50_ms: number | null;
    p99_ms: number | null;
  };
  /** All that the subscription has was read; else the times and the attempts are those of the part within the bounds. */
  complete: boolean;
}

type StatsRow = Omit<SubscriptionStats, 'counts' | 'counts_capped' | 'last_24h' | 'complete' | 'in_flight'> & {
  /** Null where no row has it. */
  total: number | null;
  counted: Record<DeliveryStatus, number>;
  most_attempts: number;
  attempts: Record<string, number>;
  p50_ms: number | null;
  p99_ms: number | null;
};

/** Undefined when there is no such subscription. Reads within `bounds`. Indexes: delivery_by_status or delivery_of_parent, and the attempts' by delivery. */
export async function subscriptionStats(
  sql: Sql,
  subscriptionId: string,
  bounds: StatsBounds = BOUNDS,
): Promise<SubscriptionStats | undefined> {
  const [found] = await sql.query<{ of_workspace: boolean }>(
    'findForStats',
    `select connection_id is null as of_workspace from subscription s where id = $1 and ${isShown('s')}`,
    [subscriptionId],
  );
  if (!found) return undefined;
  const hidden = found.of_workspace ? await hiddenMembers(sql, subscriptionId) : [];
  const [name, text] = !found.of_workspace
    ? ['subscriptionStats', STATS]
    : hidden.length === 0
      ? ['workspaceSubscriptionStats', STATS_OF_MEMBERS]
      : ['keptMembersStats', STATS_OF_KEPT_MEMBERS];
  const [row] = await sql.query<StatsRow>(`${name}`, `${text}`, [
    subscriptionId,
    bounds.counted,
    bounds.deliveries,
    bounds.attempts,
    [...DELIVERY_STATUSES],
    ...(hidden.length === 0 ? [] : [hidden]),
  ]);
  if (!row) return undefined;
  const { total, counted, most_attempts, attempts, p50_ms, p99_ms, ...shown } = row;
  const { counts, capped } = exactCounts(counted, total, bounds.counted);
  const within = capped.length === 0 && DELIVERY_STATUSES.every((status) => counts[status] <= bounds.deliveries);
  return {
    ...shown,
    counts,
    counts_capped: capped,
    in_flight: counts.sending,
    last_24h: { attempts, p50_ms, p99_ms },
    complete: within && most_attempts <= bounds.attempts,
  };
}

/** The row of a connection's subscription has the total: when one count alone stopped at its bound, it follows from the others. */
function exactCounts(counted: Record<DeliveryStatus, number>, total: number | null, bound: number) {
  const capped = DELIVERY_STATUSES.filter((status) => counted[status] >= bound);
  const [only] = capped;
  if (total === null || capped.length !== 1 || only === undefined) return { counts: counted, capped };
  const others = DELIVERY_STATUSES.reduce((sum, status) => sum + (status === only ? 0 : counted[status]), 0);
  return { counts: { ...counted, [only]: total - others }, capped: [] };
}

const statsBy = (whose: 'subscription_id' | 'parent_id', total: string, kept = ''): string => `
  with status as (
    select * from unnest($5::text[]) s(name)
  ), counted as (
    select jsonb_object_agg(s.name, c.count) as counts from status s cross join lateral (
      select count(*) from (
        select from delivery d where d.${whose} = $1 ${kept} and d.status = s.name limit $2) d) c
  ), examined as materialized (
    select n.* from status s cross join lateral (
      select d.id, d.status, d.delivered_at, d.attempt_count from delivery d
      where s.name <> 'pending' and d.${whose} = $1 ${kept} and d.status = s.name
      order by d.event_id desc limit $3) n
    union all
    (select d.id, d.status, d.delivered_at, d.attempt_count from delivery d
     where d.${whose} = $1 ${kept} and d.status = 'pending' order by d.event_id limit $3)
  ), attempt as materialized (
    select e.status, a.* from examined e cross join lateral (
      select outcome, error, completed_at, extract(epoch from completed_at - started_at)::float8 * 1000 as duration_ms
      from delivery_attempt where delivery_id = e.id order by sequence desc limit $4) a
  ), recent as (
    select * from attempt where completed_at > now() - interval '24 hours'
  )
  select b.connection_id, b.active, ${total} as total, (select counts from counted) as counted,
    (select extract(epoch from now() - e.received_at)::float8 from delivery d join event e on e.id = d.event_id
     where d.${whose} = $1 ${kept} and d.status = 'pending' order by d.event_id limit 1) as oldest_pending_s,
    (select max(delivered_at) from examined) as last_delivered_at,
    (select max(completed_at) from attempt where status = 'failed' and outcome = 'failed') as last_failed_at,
    (select coalesce(max(attempt_count), 0) from examined) as most_attempts,
    (select coalesce(jsonb_object_agg(class, count), '{}') from (
       select coalesce(error, outcome) as class, count(*) from recent group by 1) c) as attempts,
    p.at[1] as p50_ms, p.at[2] as p99_ms
  from subscription b cross join (
    select percentile_cont(array[0.5, 0.99]) within group (order by duration_ms) as at
    from recent where outcome in ('delivered', 'failed')) p
  where b.id = $1`;

const STATS = statsBy(
  'subscription_id',
  'b.delivery_count - coalesce((select deliveries from erased_deliveries where subscription_id = b.id), 0)',
);
const STATS_OF_MEMBERS = statsBy('parent_id', 'null::bigint');
/** But those of `hiddenMembers`. */
const STATS_OF_KEPT_MEMBERS = statsBy('parent_id', 'null::bigint', 'and d.subscription_id <> all($6::uuid[])');
