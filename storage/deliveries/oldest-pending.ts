import { longestDueJobs } from '../jobs/job-table.js';
import { queueName } from '../jobs/jobs.js';
import { LIMITS } from '../limits.js';
import type { Sql } from '../postgres/database.js';

/**
 * Age in seconds, by the database's clock, of the event of the oldest delivery of these partitions that has not ended; 0 when
 * there is none. Reads the index once for each subscription that has one, for a bounded number of subscriptions. Indexes: that
 * of the jobs by queue, delivery_by_status.
 */
export async function oldestPending(db: Sql, partitions: number[]): Promise<number> {
  const [row] = await db.query<{ age_s: number | null }>(
    'oldestPending',
    `with busy as materialized (
       ${longestDueJobs('$1', '$2')}
     ), oldest as (
       select o.event_id from busy b cross join unnest(array['pending', 'sending']) s(status) cross join lateral (
         select d.event_id from delivery d where d.subscription_id = b.id and d.status = s.status
         order by d.event_id limit 1) o
     )
     select extract(epoch from now() - min(e.received_at))::float8 as age_s from oldest o join event e on e.id = o.event_id`,
    [partitions.map((partition) => queueName('delivery', partition)), LIMITS.oldest_pending_subscriptions],
  );
  return Math.max(0, row?.age_s ?? 0);
}
