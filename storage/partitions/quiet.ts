import { hasNoJob } from '../jobs/job-table.js';
import { QUEUE_KINDS } from '../jobs/jobs.js';
import type { Sql } from '../postgres/database.js';

/**
 * Of these partitions, those in which recovery would find nothing: no mailbox or other job, no delivery that is being sent. Whoever has taken a
 * partition in this transaction may rely on it, because each of these is made under the partition's epoch; to others it is a hint. One step of an index each. Indexes: job_common's primary key, delivery_live.
 */
export async function quietPartitions(sql: Sql, partitions: number[]): Promise<number[]> {
  const rows = await sql.query<{ id: number }>('quietPartitions', QUIET, [partitions]);
  return rows.map(({ id }) => id);
}

const QUIET = `
  select p.id from unnest($1::smallint[]) p(id)
  where ${QUEUE_KINDS.map((kind) => hasNoJob(kind, 'p.id')).join(' and ')}
    and (select d.partition from delivery d where d.partition = p.id and d.status = 'sending' order by d.partition limit 1) is null
  order by p.id`;
