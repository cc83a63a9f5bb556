import type { Sql } from '../postgres/database.js';
import { queueName } from '../postgres/jobs.js';

/** Subscriptions with something to deliver that are looked at, those that are due the longest first. */
const LOOKED_AT = 1_000;

/**
 * Age in seconds, by the database's clock, of the event of the oldest delivery of these partitions that has not ended; 0 when
 * there is none. One look at the index for each subscription that has one, and no more of them than `LOOKED_AT`. Indexes: job_common's
 * by queue, delivery_by_status.
 */
export async function oldestPending(db: Sql, partitions: number[]): Promise<number> {
  const [row] = await db.query<{ age_s: number | null }>(
    'oldestPending',
    `with busy as materialized (
       select id from pgboss.job_common where name = any($1) order by start_after limit $2
     ), oldest as (
       select o.event_id from busy b cross join unnest(array['pending', 'sending']) s(status) cross join lateral (
         select d.event_id from delivery d where d.subscription_id = b.id and d.status = s.status
         order by d.event_id limit 1) o
     )
     select extract(epoch from now() - min(e.received_at))::float8 as age_s from oldest o join event e on e.id = o.event_id`,
    [partitions.map((partition) => queueName('delivery', partition)), LOOKED_AT],
  );
  return Math.max(0, row?.age_s ?? 0);
}
