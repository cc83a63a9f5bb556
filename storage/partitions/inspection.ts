import { LIVE_JOBS } from '../jobs/job-table.js';
import type { OperationStatus } from '../model/records.js';
import type { Sql } from '../postgres/database.js';

/** What an operator reads when no work is done (CLI-1). No request waits for these statements. */
export interface PartitionView {
  partition: number;
  epoch: number;
  node_id: string | null;
  lease_until: Date | null;
  /** Its lease has not run out, by the database's clock. */
  owned: boolean;
}

export function listPartitions(sql: Sql): Promise<PartitionView[]> {
  return sql.query<PartitionView>(
    'listPartitions',
    `select id as partition, epoch, node_id, nullif(lease_until, '-infinity') as lease_until,
       node_id is not null and lease_until > now() as owned
     from partition order by id`,
  );
}

export interface QueueView {
  /** The queues of all partitions together: a job is a connection with operations to run, or a subscription with anything to deliver. */
  queue: 'mailbox' | 'delivery';
  /** Jobs that could run now. */
  ready: number;
  /** Jobs that wait for their time: retries. */
  scheduled: number;
  /** Jobs that an owner has fetched. */
  active: number;
  oldest_ready_at: Date | null;
}

/** Live jobs by kind of queue; a job is deleted when its work is done. */
export function queueStats(sql: Sql): Promise<QueueView[]> {
  return sql.query<QueueView>(
    'queueStats',
    `with job as (${LIVE_JOBS})
     select kind.queue,
       count(*) filter (where not active and due) as ready,
       count(*) filter (where not active and not due) as scheduled,
       count(*) filter (where active) as active,
       min(due_at) filter (where not active and due) as oldest_ready_at
     from (values ('mailbox'), ('delivery')) as kind (queue) left join job using (queue)
     group by kind.queue order by kind.queue desc`,
  );
}

/** How many operations there are of each status; reads the whole table. */
export async function operationCounts(sql: Sql): Promise<Partial<Record<OperationStatus, number>>> {
  const rows = await sql.query<{ status: OperationStatus; count: number }>(
    'operationCounts',
    'select status, count(*) as count from operation group by status',
  );
  return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
}
