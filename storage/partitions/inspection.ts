import type { OperationStatus } from '../model/records.js';
import type { Sql } from '../postgres/database.js';

/** What an operator looks at when work stands still. Reads only, and nothing here is on an operation's way. */
export interface PartitionView {
  partition: number;
  epoch: number;
  node_id: string | null;
  lease_until: Date | null;
  /** The lease holds, by the database's clock. */
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
  /** The queues of all partitions together: a job is an operation, or a subscription with anything to deliver. */
  queue: 'operation' | 'delivery';
  /** Could run now. */
  ready: number;
  /** Waits for its time: a retry. */
  scheduled: number;
  /** Held by an owner. */
  active: number;
  oldest_ready_at: Date | null;
}

/** Live jobs by kind of queue; a job is deleted when its work is done. */
export function queueStats(sql: Sql): Promise<QueueView[]> {
  return sql.query<QueueView>(
    'queueStats',
    `with job as (
       select split_part(name, '-', 1) as queue, state = 'active' as active, start_after <= now() as due, start_after
       from pgboss.job where state in ('created', 'retry', 'active'))
     select kind.queue,
       count(*) filter (where not active and due) as ready,
       count(*) filter (where not active and not due) as scheduled,
       count(*) filter (where active) as active,
       min(start_after) filter (where not active and due) as oldest_ready_at
     from (values ('operation'), ('delivery')) as kind (queue) left join job using (queue)
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
