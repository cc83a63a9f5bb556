import type { Sql } from './database.js';
import { queueName } from './jobs.js';

/**
 * Age in seconds, by the database's clock, of the oldest delivery of these partitions that has not ended; 0 when there is none. It
 * counts from when the delivery was recorded or replayed, whatever retries and waits put it off. What waits in a queue costs
 * one look at the head of each, in the order a fetch takes them (pg-boss's job_i11; every job has the same priority); what its
 * owner has fetched stands in no such order, so the owner tells which it has `held` the longest.
 */
export async function oldestPending(
  db: Sql,
  partitions: number[],
  held: { id: string; partition: number }[],
): Promise<number> {
  const [row] = await db.query<{ age_s: number | null }>(
    'oldestPending',
    `with waiting as (
       select h.created_on from unnest($1::text[]) q(name) cross join lateral (
         select j.created_on from pgboss.job_common j
         where j.name = q.name and j.state < 'active' and not j.blocked
         order by j.priority desc, j.created_on limit 1) h
     ), held as (
       select j.created_on from unnest($2::text[], $3::uuid[]) h(name, id)
       join pgboss.job_common j on j.name = h.name and j.id = h.id
     )
     select extract(epoch from now() - min(created_on))::float8 as age_s
     from (select created_on from waiting union all select created_on from held) oldest`,
    [
      partitions.map((partition) => queueName('delivery', partition)),
      held.map(({ partition }) => queueName('delivery', partition)),
      held.map(({ id }) => id),
    ],
  );
  return Math.max(0, row?.age_s ?? 0);
}
