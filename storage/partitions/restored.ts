import { jobPage } from '../jobs/job-table.js';
import { markOf } from '../jobs/mailbox-jobs.js';
import { LIMITS } from '../limits.js';
import { ATTEMPT_STEPS, OPERATION_STEPS } from '../model/transitions.js';
import type { Sql } from '../postgres/database.js';
import { LOST_WORKER } from './recovery.js';

/** Each has a queue of its own. */
const PARTITIONS = 'select id from partition order by id';

const STARTED = OPERATION_STEPS.sql('queued', 'running');
const UNKNOWN = OPERATION_STEPS.sql('running', 'outcome_unknown');
const CLOSED = ATTEMPT_STEPS.sql('running', 'outcome_unknown');

const iso = (time: string) => `to_char(${time} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
const step = (from: string, to: string) =>
  `jsonb_build_object('from', '${from}', 'to', ${to}, 'reason', 'restored', 'at', $5::text)`;

// A mailbox stands for each connection with operations that have not ended, all of them from its mark on.
const SETTLE = `
  with page as materialized (
    ${jobPage('mailbox', '$1::smallint', '$2::uuid', '$3')}
  ), settled as (
    update operation o set status = ${UNKNOWN.to}, updated_at = clock_timestamp(), evidence = '${JSON.stringify(LOST_WORKER)}'::jsonb,
      attempts = case when o.status ${STARTED.from}
        then o.attempts || jsonb_build_object('id', gen_random_uuid(), 'state_revision', c.state_revision,
          'number', jsonb_array_length(o.attempts) + 1, 'status', ${CLOSED.to}, 'phase', 'dispatching',
          'started_at', ${iso('o.created_at')}, 'completed_at', $5::text)
        else jsonb_set(o.attempts, '{-1}', (o.attempts -> -1) || jsonb_build_object('completed_at', $5::text, 'status', ${CLOSED.to})) end,
      timeline = o.timeline || case when o.status ${STARTED.from}
        then jsonb_build_array(${step('queued', STARTED.to)}, ${step('running', UNKNOWN.to)})
        else jsonb_build_array(${step('running', UNKNOWN.to)}) end
    from page p, connection c
    where o.connection_id = p.id and o.id >= ${markOf('p.data')} and c.id = o.connection_id and o.capability = any($4)
      and (o.status ${STARTED.from} or o.status ${UNKNOWN.from})
    returning o.id
  )
  select (select count(*) from settled)::int as settled, (select count(*) from page)::int as seen,
    (select p.id from page p order by p.id desc limit 1) as last`;

interface Page {
  settled: number;
  seen: number;
  last: string | null;
}

/**
 * Ends what the copy of a database holds of writes that were queued or running when it was made, as `outcome_unknown` (CLI-7): the
 * installation that was copied went on, and may have done them since. A queued one gets the attempt that may have been made, from its
 * acceptance on, so that a look for what it wrote finds it. `writes` are the capabilities that write; all else stays as it is. No node
 * may run meanwhile. Takes a statement a page; a second call ends nothing more. Gives how many were ended.
 */
export async function settleRestored(db: Sql, writes: readonly string[]): Promise<number> {
  const partitions = await db.query<{ id: number }>('partitions', PARTITIONS);
  let total = 0;
  for (const { id } of partitions) total += await settlePartition(db, id, writes);
  return total;
}

async function settlePartition(db: Sql, partition: number, writes: readonly string[]): Promise<number> {
  let total = 0;
  let after = '00000000-0000-0000-0000-000000000000';
  for (;;) {
    const at = new Date().toISOString();
    const params = [partition, after, LIMITS.settled_jobs, writes, at];
    const [page] = await db.query<Page>('settleRestored', SETTLE, params);
    total += page?.settled ?? 0;
    if (!page?.last || page.seen < LIMITS.settled_jobs) return total;
    after = page.last;
  }
}
