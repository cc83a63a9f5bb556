import { recoverDeliveries } from '../deliveries/recovery.js';
import { putBackJobs } from '../jobs/job-table.js';
import { putBackMailboxes } from '../jobs/mailbox-jobs.js';
import { LIMITS } from '../limits.js';
import type { EndedOperation } from '../model/ended-operation.js';
import { type StoredEvidence, UNKNOWN_PROGRESS } from '../model/evidence.js';
import type { OperationStatus } from '../model/records.js';
import { ATTEMPT_STEPS, isTerminal, OPERATION_STEPS } from '../model/transitions.js';
import { pastBoundarySql } from '../model/write-boundary.js';
import type { Sql } from '../postgres/database.js';
import { startedOperations } from './started.js';

/** How many operations recovery put into each status, and how many open mailboxes and other fetched jobs it put back. */
export interface Recovered {
  queued: number;
  outcome_unknown: number;
  failed: number;
  canceled: number;
  jobs: number;
  /** Those that ended. */
  ended: EndedOperation[];
}

const RUNNING = {
  queued: OPERATION_STEPS.sql('running', 'queued').to,
  canceled: OPERATION_STEPS.sql('running', 'canceled').to,
  unknown: OPERATION_STEPS.sql('running', 'outcome_unknown').to,
  failed: OPERATION_STEPS.sql('running', 'failed').to,
};
const WAITING = {
  failed: OPERATION_STEPS.sql('waiting_user', 'failed').to,
  canceled: OPERATION_STEPS.sql('waiting_user', 'canceled').to,
};
const CLOSED = {
  abandoned: ATTEMPT_STEPS.sql('running', 'abandoned').to,
  unknown: ATTEMPT_STEPS.sql('running', 'outcome_unknown').to,
};

/** All that is durable of a write whose worker was lost, beside its attempt. */
export const LOST_WORKER: StoredEvidence = { ...UNKNOWN_PROGRESS, fault: 'worker_lost' };

// `lost` locks each row and decides on it in one look: a write boundary, a wait or an end that commits while the lock is waited for changes
// the decision, because the row is read again with its lock. `lost` of an attempt: its thread or node went with it; where others go on it may
// never have run.
const RECOVER = `
  with lost as materialized (
    select o.id, o.status, case
      when o.status = 'waiting_user' then case when o.cancel_requested then ${WAITING.canceled} else ${WAITING.failed} end
      when ${pastBoundarySql('o')} then ${RUNNING.unknown}
      when o.cancel_requested then ${RUNNING.canceled}
      when o.timeline -> -1 ->> 'reason' in ('code_received', 'challenge_ended') then ${RUNNING.failed}
      when $4 and jsonb_array_length(jsonb_path_query_array(o.attempts, '$[*] ? (@.lost == true)')) >= ${LIMITS.lost_attempts - 1}
        then ${RUNNING.failed}
      else ${RUNNING.queued} end as becomes
    from operation o where o.id = any($1::uuid[]) and o.status in ('running', 'waiting_user')
      and not exists (select 1 from unnest($2::uuid[]) kept(id) where kept.id = o.id)
    order by o.id for update of o
  )
  update operation o set status = l.becomes, challenge = null, updated_at = clock_timestamp(),
    error_code = case when l.becomes = 'failed' then 'worker_lost' end,
    error_details = case when l.becomes = 'failed' then '{"retryable":true}'::jsonb end,
    evidence = case when l.becomes = 'outcome_unknown' then '${JSON.stringify(LOST_WORKER)}'::jsonb end,
    attempts = jsonb_set(o.attempts, '{-1}', (o.attempts -> -1) || jsonb_build_object('completed_at', $3::text, 'lost', $4::boolean,
      'status', case when l.becomes = 'outcome_unknown' then ${CLOSED.unknown} else ${CLOSED.abandoned} end)),
    timeline = o.timeline || jsonb_build_object('from', l.status, 'to', l.becomes, 'at', $3::text,
      'reason', case when l.becomes = 'canceled' then 'cancel_requested' else 'worker_lost' end)
  from lost l where o.id = l.id
  returning o.id, o.status, o.error_code, o.capability, jsonb_array_length(o.attempts) as attempts, o.connection_id, o.workspace_id,
    o.request_id, o.traceparent`;

/**
 * Ends what nobody runs any more of a partition, in the transaction that takes it under its next epoch: no statement of the
 * epoch before can write after it. One decision a row (OPS-1, OPS-4): a write past its boundary becomes
 * `outcome_unknown`, with evidence of what is durable; waiting for the user becomes `failed worker_lost`, and so does what had taken a
 * user's code, which is lost with its worker (OPS-10), and what has lost `LIMITS.lost_attempts` workers: it may be what ends them; all else
 * goes back to `queued`; what was to be canceled is `canceled` where nothing can have left. Open mailboxes and other fetched jobs are put back.
 *
 * `inHand` are the operations that the caller still has in hand: they stay as they are, and so do the deliveries of the partition.
 * Undefined: nothing is in hand, and sending deliveries go back to pending as well.
 */
export async function recoverPartition(tx: Sql, partition: number, inHand?: string[]): Promise<Recovered> {
  const kept = inHand ?? [];
  const at = new Date().toISOString();
  const started = await startedOperations(tx, partition);
  const rows = await tx.query<EndedOperation>('recoverOperations', RECOVER, [started, kept, at, !inHand]);
  const ended = rows.filter(({ status }) => isTerminal(status));
  const mailboxes = await putBackMailboxes(tx, partition);
  if (!inHand) await recoverDeliveries(tx, [partition]);
  const jobs = mailboxes + (inHand ? 0 : await putBackJobs(tx, partition, 'delivery'));
  const count = (status: OperationStatus) => rows.filter((row) => row.status === status).length;
  return {
    queued: count('queued'),
    outcome_unknown: count('outcome_unknown'),
    failed: count('failed'),
    canceled: count('canceled'),
    jobs,
    ended,
  };
}
