import { recoverDeliveries } from '../deliveries/recovery.js';
import type { OperationStatus } from '../model/records.js';
import { ATTEMPT_STEPS, isTerminal, OPERATION_STEPS } from '../model/transitions.js';
import { pastBoundarySql } from '../model/write-boundary.js';
import type { Sql } from '../postgres/database.js';
import { putBackJobs, removeJobs } from '../postgres/job-table.js';

/** How many operations recovery put into each status, and how many fetched jobs it put back. */
export interface Recovered {
  queued: number;
  outcome_unknown: number;
  failed: number;
  canceled: number;
  jobs: number;
}

const RUNNING = {
  queued: OPERATION_STEPS.sql('running', 'queued').to,
  canceled: OPERATION_STEPS.sql('running', 'canceled').to,
  unknown: OPERATION_STEPS.sql('running', 'outcome_unknown').to,
};
const WAITING = {
  failed: OPERATION_STEPS.sql('waiting_user', 'failed').to,
  canceled: OPERATION_STEPS.sql('waiting_user', 'canceled').to,
};
const CLOSED = {
  abandoned: ATTEMPT_STEPS.sql('running', 'abandoned').to,
  unknown: ATTEMPT_STEPS.sql('running', 'outcome_unknown').to,
};

// `lost` locks each row and decides on it in one look: a write boundary, a wait or an end that commits while the lock is
// waited for changes the decision, because the row is read again with its lock.
const RECOVER = `
  with lost as materialized (
    select o.id, o.status, case
      when o.status = 'waiting_user' then case when o.cancel_requested then ${WAITING.canceled} else ${WAITING.failed} end
      when ${pastBoundarySql('o')} then ${RUNNING.unknown}
      when o.cancel_requested then ${RUNNING.canceled}
      else ${RUNNING.queued} end as becomes
    from running_operation r join operation o on o.id = r.operation_id
    where r.partition = $1 and o.status in ('running', 'waiting_user')
      and not exists (select 1 from unnest($2::uuid[]) kept(id) where kept.id = r.operation_id)
    order by o.id for update of o
  )
  update operation o set status = l.becomes, challenge = null, updated_at = now(),
    error_code = case when l.becomes = 'failed' then 'worker_lost' end,
    error_details = case when l.becomes = 'failed' then '{"retryable":true}'::jsonb end,
    attempts = jsonb_set(o.attempts, '{-1}', (o.attempts -> -1) || jsonb_build_object('completed_at', $3::text,
      'status', case when l.becomes = 'outcome_unknown' then ${CLOSED.unknown} else ${CLOSED.abandoned} end)),
    timeline = o.timeline || jsonb_build_object('from', l.status, 'to', l.becomes, 'at', $3::text,
      'reason', case when l.becomes = 'canceled' then 'cancel_requested' else 'worker_lost' end)
  from lost l where o.id = l.id
  returning o.id, o.status`;

/**
 * Ends what nobody runs any more of a partition, in the transaction that takes it under its next epoch: no statement of the
 * epoch before can write after it. One decision a row (OPS-1, OPS-4): a write past its boundary becomes
 * `outcome_unknown`; waiting for the user becomes `failed worker_lost`; all else goes back to `queued`; what was to be
 * canceled is `canceled` where nothing can have left. Fetched jobs are put back.
 *
 * `inHand` are the operations that the caller still has in hand: they and their jobs stay as they are, and so do the
 * deliveries of the partition. Undefined: nothing is in hand, and sending deliveries go back to pending as well.
 */
export async function recoverPartition(tx: Sql, partition: number, inHand?: string[]): Promise<Recovered> {
  const kept = inHand ?? [];
  const at = new Date().toISOString();
  const rows = await tx.query<{ id: string; status: OperationStatus }>('recoverOperations', RECOVER, [
    partition,
    kept,
    at,
  ]);
  await tx.query(
    'vacateConnections',
    `delete from running_operation r where r.partition = $1
       and not exists (select 1 from unnest($2::uuid[]) kept(id) where kept.id = r.operation_id)`,
    [partition, kept],
  );
  const ended = rows.filter(({ status }) => isTerminal(status));
  await removeJobs(
    tx,
    ended.map(({ id }) => ({ queue: 'operation', partition, id })),
  );
  if (!inHand) await recoverDeliveries(tx, [partition]);
  const jobs = await putBackJobs(tx, partition, inHand ? ['operation'] : ['operation', 'delivery'], kept);
  const count = (status: OperationStatus) => rows.filter((row) => row.status === status).length;
  return {
    queued: count('queued'),
    outcome_unknown: count('outcome_unknown'),
    failed: count('failed'),
    canceled: count('canceled'),
    jobs,
  };
}
