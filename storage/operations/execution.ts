import type { AttemptPhase, AttemptStatus, ConnectionRow, OperationStatus } from '../model/records.js';
import { ATTEMPT_STEPS, OPERATION_STEPS, transition } from '../model/transitions.js';
import type { Sql } from '../postgres/database.js';
import { deleteJobs } from '../postgres/job-table.js';
import { pgSafeJson } from '../postgres/pg-safe-json.js';

/**
 * The fenced writes of an operation's execution; `OPERATION_STEPS` has the states. Each takes a batch.
 *
 * An execution holds (partition, epoch, attempt). Invariants:
 * I1 a start locks the partition's row FOR KEY SHARE and writes only while the epoch is the same, so a take-over waits for it
 *    or makes it write nothing;
 * I2 every later write is held by the operation's own row: recovery changes its status or attempt under a row lock, so a
 *    former owner matches no row.
 */
export interface HeldOperation {
  id: string;
  partition: number;
  epoch: number;
  attemptId: string;
}

/** A queued operation that is to start; `attemptId` becomes its next attempt. */
export interface StartingOperation extends HeldOperation {
  connectionId: string;
  phase: AttemptPhase;
}

/** A started operation, with its connection's row. */
export interface StartedOperation extends ConnectionRow {
  operation_id: string;
  capability: string;
  input: Record<string, unknown> | null;
  input_sealed: Buffer | null;
  attempt_number: number;
}

const CONNECTION = [
  'id',
  'workspace_id',
  'partition',
  'provider',
  'username',
  'actor_kind',
  'actor_id',
  'health',
  'state_revision',
  'region',
  'proxy_id',
  'recruiter_health',
  'recruiter_reason',
  'recruiter_contract',
  'recruiter_verified_at',
  'recruiter_verified_revision',
  'recruiter_operation_id',
  'created_at',
];

const START_STEP = OPERATION_STEPS.sql('queued', 'running');

// I1 `fence`.
const START = `
  with input as (
    select * from unnest($1::uuid[], $2::smallint[], $3::bigint[], $4::uuid[], $5::text[], $8::uuid[])
      i(id, partition, epoch, attempt_id, phase, connection_id)
  ), fence as materialized (
    select p.id from partition p
    where (p.id, p.epoch) in (select i.partition, i.epoch from input i) for key share
  ), started as (
    update operation o set status = ${START_STEP.to}, epoch = i.epoch, updated_at = now(),
      attempts = o.attempts || jsonb_build_object('id', i.attempt_id, 'state_revision', c.state_revision,
        'number', jsonb_array_length(o.attempts) + 1, 'status', ${ATTEMPT_STEPS.firstSql}, 'phase', i.phase,
        'started_at', $6::text, 'completed_at', null),
      timeline = o.timeline || $7::jsonb
    from input i cross join lateral (select * from connection where id = i.connection_id for key share) c
    where o.id = i.id and o.status ${START_STEP.from} and o.connection_id = i.connection_id
      and (c.cancel_through is null or o.id > c.cancel_through)
      and i.partition = any(array(select id from fence))
    returning o.id as operation_id, o.capability, o.input, o.input_sealed,
      jsonb_array_length(o.attempts) as attempt_number, ${CONNECTION.map((column) => `c.${column}`).join(', ')}
  ), occupied as (
    insert into running_operation (connection_id, operation_id, partition) select id, operation_id, partition from started
  )
  select * from started`;

/**
 * queued → running, with a new attempt, as the running operation of its connection. Returns those that started, with their
 * connection as it is now. An operation is left out when it is no longer queued (cancelled, gone) or the epoch is
 * stale. The connection is locked FOR KEY SHARE, which serialises with the FOR UPDATE of PATCH, disconnect and
 * delete (CONN-5).
 */
export async function startOperations(db: Sql, operations: StartingOperation[]): Promise<StartedOperation[]> {
  const at = new Date();
  return db.query<StartedOperation>('startOperations', START, [
    operations.map((o) => o.id),
    operations.map((o) => o.partition),
    operations.map((o) => o.epoch),
    operations.map((o) => o.attemptId),
    operations.map((o) => o.phase),
    at.toISOString(),
    JSON.stringify([transition('queued', 'running', 'started', at)]),
    operations.map((o) => o.connectionId),
  ]);
}

/** I2 Holds for the rows `o` that are still held, joined to the arrays of `heldArrays` as `i`. */
export const HELD = `o.id = i.id and o.epoch = i.epoch and o.attempts -> -1 ->> 'id' = i.attempt_id::text`;

export const heldArrays = (operations: HeldOperation[]) => [
  operations.map((o) => o.id),
  operations.map((o) => o.epoch),
  operations.map((o) => o.attemptId),
];

/**
 * The write boundary: makes phase `dispatching` durable. Returns the ids it holds for. Any other operation was fenced, or
 * its cancel came first, and must send nothing.
 */
export async function enterDispatching(db: Sql, operations: HeldOperation[]): Promise<Set<string>> {
  const rows = await db.query<{ id: string }>(
    'enterDispatching',
    `update operation o set attempts = jsonb_set(o.attempts, '{-1,phase}', '"dispatching"'), updated_at = now()
     from unnest($1::uuid[], $2::bigint[], $3::uuid[]) i(id, epoch, attempt_id)
     where ${HELD} and o.status = 'running' and not o.cancel_requested
     returning o.id`,
    heldArrays(operations),
  );
  return new Set(rows.map((row) => row.id));
}

/** How an attempt ended. `queued` puts the operation back for another attempt; its job is kept. */
export interface FinishedOperation extends HeldOperation {
  /** The status it is in now: `running`, or `waiting_user` when the wait itself ended it. */
  from: OperationStatus;
  to: Exclude<OperationStatus, 'running' | 'waiting_user'>;
  reason: string;
  attemptStatus: AttemptStatus;
  result: Record<string, unknown> | null;
  errorCode: string | null;
  errorDetails: Record<string, unknown> | null;
}

const FINISH = `
  with finished as (
    update operation o set status = i.status, result = i.result, error_code = i.error_code,
      error_details = i.error_details, challenge = null, updated_at = now(),
      attempts = jsonb_set(o.attempts, '{-1}', (o.attempts -> -1)
        || jsonb_build_object('status', i.attempt_status, 'completed_at', $9::text)
        || case when i.attempt_status = 'succeeded' then '{"phase":"done"}'::jsonb else '{}'::jsonb end),
      timeline = o.timeline || i.timeline
    from unnest($1::uuid[], $2::bigint[], $3::uuid[], $4::text[], $5::jsonb[], $6::text[], $7::jsonb[], $8::text[], $10::jsonb[])
      i(id, epoch, attempt_id, status, result, error_code, error_details, attempt_status, timeline)
    where ${HELD} and o.status in ('running', 'waiting_user')
    returning o.id, o.connection_id, o.partition, o.status
  ), vacated as (
    delete from running_operation
    where connection_id = any(array(select connection_id from finished))
      and operation_id = any(array(select id from finished))
  ), job as (
    ${deleteJobs({ queue: 'operation', from: 'finished f', partition: 'f.partition', id: 'f.id', where: `f.status <> 'queued'` })}
  )
  select id from finished`;

/**
 * Ends attempts: status, result, attempt and timeline in one update, the job deleted with it unless the operation goes back
 * to `queued`. Returns the ids that were still held; the others were fenced and nothing of theirs may be stored. Throws on an
 * illegal step.
 */
export async function finishOperations(tx: Sql, operations: FinishedOperation[]): Promise<Set<string>> {
  const at = new Date();
  for (const o of operations) ATTEMPT_STEPS.check('running', o.attemptStatus, o.reason);
  const rows = await tx.query<{ id: string }>('finishOperations', FINISH, [
    ...heldArrays(operations),
    operations.map((o) => o.to),
    operations.map((o) => (o.result === null ? null : pgSafeJson(o.result))),
    operations.map((o) => o.errorCode),
    operations.map((o) => (o.errorDetails === null ? null : pgSafeJson(o.errorDetails))),
    operations.map((o) => o.attemptStatus),
    at.toISOString(),
    operations.map((o) => JSON.stringify([transition(o.from, o.to, o.reason, at)])),
  ]);
  return new Set(rows.map((row) => row.id));
}
