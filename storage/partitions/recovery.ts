import { recoverDeliveries } from '../deliveries/recovery.js';
import type { AttemptStatus, OperationStatus, Transition } from '../model/records.js';
import { ATTEMPT_STEPS, OPERATION_STEPS, transition } from '../model/transitions.js';
import { pastBoundarySql } from '../model/write-boundary.js';
import type { Sql } from '../postgres/database.js';
import { type JobRef, putBackJobs, removeJobs } from '../postgres/job-table.js';

/** An operation that a former owner had started and not ended. */
interface LostOperation {
  id: string;
  partition: number;
}

const LOST = 'o.id in (select operation_id from running_operation where partition = any($1))';

const closeAttempt = (to: AttemptStatus) =>
  `attempts = jsonb_set(o.attempts, '{-1}', (o.attempts -> -1)
    || jsonb_build_object('status', ${ATTEMPT_STEPS.sql('running', to).to}, 'completed_at', $2::text))`;

const entry = (from: OperationStatus, to: OperationStatus, reason: string, at: Date): string =>
  JSON.stringify([transition(from, to, reason, at)] satisfies Transition[]);

/**
 * Ends what the former owner of these partitions left, in the transaction that takes them: a write past its boundary
 * becomes `outcome_unknown` (OPS-4); waiting for the user becomes `failed worker_lost`; all else goes back to `queued`, its attempt
 * `abandoned`, or is `canceled` when that was requested. Sending deliveries go back to pending. Fetched jobs are put back.
 */
export async function recoverPartitions(tx: Sql, partitions: { id: number }[]): Promise<void> {
  if (partitions.length === 0) return;
  const ids = partitions.map((p) => p.id);
  const at = new Date();
  // In this order: the last takes all that the others have left running.
  const ended = [
    ...(await endPastBoundary(tx, ids, at)),
    ...(await failWaiting(tx, ids, at)),
    ...(await requeue(tx, ids, at)),
  ];
  await tx.query('vacateConnections', 'delete from running_operation where partition = any($1)', [ids]);
  await removeJobs(
    tx,
    ended.map(({ id, partition }): JobRef => ({ queue: 'operation', partition, id })),
  );
  await recoverDeliveries(tx, ids);
  await putBackJobs(tx, ids);
}

/** running → outcome_unknown, where the provider may have acted. */
function endPastBoundary(tx: Sql, partitions: number[], at: Date): Promise<LostOperation[]> {
  const step = OPERATION_STEPS.sql('running', 'outcome_unknown');
  return tx.query<LostOperation>(
    'recoverPastBoundary',
    `update operation o set status = ${step.to}, updated_at = now(), ${closeAttempt('outcome_unknown')},
       timeline = o.timeline || $3::jsonb
     where ${LOST} and o.status ${step.from} and ${pastBoundarySql('o')}
     returning o.id, o.partition`,
    [partitions, at.toISOString(), entry('running', 'outcome_unknown', 'worker_lost', at)],
  );
}

/** waiting_user → failed: the browser that waited is gone. */
function failWaiting(tx: Sql, partitions: number[], at: Date): Promise<LostOperation[]> {
  const step = OPERATION_STEPS.sql('waiting_user', 'failed');
  return tx.query<LostOperation>(
    'recoverWaiting',
    `update operation o set status = ${step.to}, error_code = 'worker_lost', error_details = '{"retryable":true}',
       challenge = null, updated_at = now(), ${closeAttempt('abandoned')}, timeline = o.timeline || $3::jsonb
     where ${LOST} and o.status ${step.from}
     returning o.id, o.partition`,
    [partitions, at.toISOString(), entry('waiting_user', 'failed', 'worker_lost', at)],
  );
}

/** running → queued, or canceled when that was requested. Returns the canceled ones. */
async function requeue(tx: Sql, partitions: number[], at: Date): Promise<LostOperation[]> {
  const again = OPERATION_STEPS.sql('running', 'queued');
  const cancel = OPERATION_STEPS.sql('running', 'canceled');
  const rows = await tx.query<LostOperation & { cancel_requested: boolean }>(
    'recoverUnstarted',
    `update operation o set status = case when o.cancel_requested then ${cancel.to} else ${again.to} end,
       updated_at = now(), ${closeAttempt('abandoned')},
       timeline = o.timeline || case when o.cancel_requested then $4::jsonb else $3::jsonb end
     where ${LOST} and o.status ${again.from}
     returning o.id, o.partition, o.cancel_requested`,
    [
      partitions,
      at.toISOString(),
      entry('running', 'queued', 'worker_lost', at),
      entry('running', 'canceled', 'cancel_requested', at),
    ],
  );
  return rows.filter((row) => row.cancel_requested);
}
