import { waitingJobs } from '../jobs/job-table.js';
import { queueName } from '../jobs/jobs.js';
import { markOf } from '../jobs/mailbox-jobs.js';
import { LIMITS } from '../limits.js';
import type { Health } from '../model/records.js';
import type { Sql } from '../postgres/database.js';

/** What only rows can tell of some partitions, for metrics. */
export interface PartitionMeasures {
  connections: { provider: 'social' | 'simulated'; health: Health; count: number }[];
  /** Gaps of streams that are open. */
  open_gaps: number;
  /** Operations whose outcome is unknown since LIMITS.recent_unknown_hours at most, and that nobody has looked at. */
  unknown_outcomes: number;
  /** Queued operations that no thread has in memory yet; of LIMITS.measured_mailboxes connections and LIMITS.measured_operations each at most. */
  unfetched: number;
  /** How long the one of them that was accepted first has waited; 0 without one. */
  oldest_unfetched_s: number;
}

/** Reads the measures of these partitions, in statements whose cost has a bound of its own each. */
export async function measurePartitions(db: Sql, partitions: number[]): Promise<PartitionMeasures> {
  const connections = await connectionsByHealth(db, partitions);
  const [gaps] = await db.query<{ count: number }>('openGaps', OPEN_GAPS, [partitions]);
  const [unknown] = await db.query<{ count: number }>('openUnknownOutcomes', UNKNOWN_OUTCOMES, [partitions]);
  const queues = partitions.map((partition) => queueName('mailbox', partition));
  const [jobs] = await db.query<{ count: number; oldest_s: number }>('unfetchedOperations', UNFETCHED, [queues]);
  return {
    connections,
    open_gaps: gaps?.count ?? 0,
    unknown_outcomes: unknown?.count ?? 0,
    unfetched: jobs?.count ?? 0,
    oldest_unfetched_s: Math.max(0, jobs?.oldest_s ?? 0),
  };
}

/** Index only: connection_by_partition. */
function connectionsByHealth(db: Sql, partitions: number[]): Promise<PartitionMeasures['connections']> {
  return db.query(
    'connectionsByHealth',
    `select provider, health, count(*)::int as count from connection where partition = any($1)
     group by provider, health`,
    [partitions],
  );
}

/** As many rows as gaps are open. Index: listener_gap_open. */
const OPEN_GAPS = `select count(*)::int as count from listener_gap g join connection c on c.id = g.connection_id
  where g.closed_at is null and c.partition = any($1)`;

/** Index only: unknown_outcome_by_partition. */
const UNKNOWN_OUTCOMES = `select count(*)::int as count from unknown_outcome
  where partition = any($1) and since > now() - interval '${LIMITS.recent_unknown_hours} hours'`;

/** What is new in the mailboxes that are due. Indexes: that of the jobs by queue, operation_by_connection. */
const UNFETCHED = `select count(*)::int as count, coalesce(extract(epoch from now() - min(o.created_at)), 0)::float8 as oldest_s
  from (${waitingJobs('$1', String(LIMITS.measured_mailboxes))}) w cross join lateral (
    select created_at from operation q
    where q.connection_id = w.id and q.id >= coalesce((w.data ->> 'new')::uuid, ${markOf('w.data')}) and q.status = 'queued'
    order by q.id limit ${LIMITS.measured_operations}) o`;
