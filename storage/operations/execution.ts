import type { Boundary, StoredEvidence, Worker } from '../model/evidence.js';
import {
  type AttemptPhase,
  type AttemptStatus,
  type ConnectionRow,
  type OperationStatus,
  PARTITIONS,
} from '../model/records.js';
import { ATTEMPT_STEPS, OPERATION_STEPS, transition } from '../model/transitions.js';
import type { Sql } from '../postgres/database.js';
import { pgSafeJson } from '../postgres/pg-safe-json.js';
import { resultContext } from '../secrets/sealing.js';

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
}

/** A started operation, with its connection's row. */
export interface StartedOperation extends ConnectionRow {
  operation_id: string;
  capability: string;
  input: Record<string, unknown> | null;
  input_sealed: Buffer | null;
  attempt_number: number;
  /** The epoch that the attempt runs under. */
  epoch: number;
  /** Milliseconds of running time that earlier attempts took (OPS-17). */
  spent_ms: number;
  accepted_at: Date;
  /** When its first attempt started, by the clock of the node that started it. */
  first_started_at: string;
  request_id: string | null;
  traceparent: string | null;
}

export const CONNECTION_FIELDS = [
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
] as const;

export const START_STEP = OPERATION_STEPS.sql('queued', 'running');

export const CONNECTION_COLUMNS = CONNECTION_FIELDS.map((column) => `c.${column}`).join(', ');

/** Milliseconds that the attempts of the operation row `o` before the last one ran, as far as their ends noted it. */
const SPENT = `case when jsonb_array_length(o.attempts) < 2 then 0
  else (select coalesce(sum((a ->> 'running_ms')::float8), 0) from jsonb_array_elements(o.attempts) a) end as spent_ms`;

const STARTED = `o.id as operation_id, o.capability, o.input, o.input_sealed, o.epoch,
  o.created_at as accepted_at, o.attempts -> 0 ->> 'started_at' as first_started_at, o.request_id, o.traceparent,
  jsonb_array_length(o.attempts) as attempt_number, ${SPENT}, ${CONNECTION_COLUMNS}`;

// I1 `fence`: pairs as one number each, because the planner cannot know how few rows a fence has. Rows that are locked (a
// partition that is being taken, a connection that is being changed) are left out instead of holding up the others.
const START = `
  with input as (
    select * from unnest($1::uuid[], $2::smallint[], $3::bigint[], $4::uuid[], $8::uuid[])
      i(id, partition, epoch, attempt_id, connection_id)
  ), fence as materialized (
    select p.epoch * ${PARTITIONS} + p.id as pair from partition p
    where (p.id, p.epoch) in (select i.partition, i.epoch from input i) for key share skip locked
  )
  update operation o set status = ${START_STEP.to}, epoch = i.epoch, updated_at = now(),
    attempts = o.attempts || jsonb_build_object('id', i.attempt_id, 'state_revision', c.state_revision,
      'number', jsonb_array_length(o.attempts) + 1, 'status', ${ATTEMPT_STEPS.firstSql},
      'phase', case when o.capability = any($5::text[]) then 'preparing' else 'reading' end,
      'started_at', $6::text, 'completed_at', null),
    timeline = o.timeline || $7::jsonb
  from input i cross join lateral (select * from connection where id = i.connection_id for key share skip locked) c
  where o.id = i.id and o.status ${START_STEP.from} and o.connection_id = i.connection_id
    and (c.cancel_through is null or o.id > c.cancel_through)
    and i.epoch * ${PARTITIONS} + i.partition = any(array(select pair from fence))
    and not o.attempts @> jsonb_build_array(jsonb_build_object('id', i.attempt_id))
  returning ${STARTED}`;

/**
 * queued → running, with a new attempt. Its owner starts one of a connection at a time. Returns those that started, with their
 * connection as it is now. An operation is left out when it is no longer queued, its attempt was started before, the
 * epoch is stale, or a row that it needs is locked: `startsLeftOut` tells which. The connection is locked FOR KEY SHARE, which
 * serialises with the FOR UPDATE of PATCH, disconnect and delete (CONN-5). An attempt starts once, however often it is asked for.
 *
 * `writes`: the capabilities that write. Their attempts begin as `preparing`, those of all others as `reading` (OPS-11).
 */
export async function startOperations(
  db: Sql,
  operations: StartingOperation[],
  writes: readonly string[],
): Promise<StartedOperation[]> {
  const at = new Date();
  return db.query<StartedOperation>('startOperations', START, [
    operations.map((o) => o.id),
    operations.map((o) => o.partition),
    operations.map((o) => o.epoch),
    operations.map((o) => o.attemptId),
    writes,
    at.toISOString(),
    JSON.stringify([transition('queued', 'running', 'started', at)]),
    operations.map((o) => o.connectionId),
  ]);
}

/** Why an operation was left out of a start. */
export type LeftOut =
  /** It runs under this very attempt: the answer to its start was lost. */
  | { kind: 'started'; started: StartedOperation }
  /** It still waits: a row was locked, or its partition is being taken. */
  | { kind: 'queued' }
  /** It ended, is gone, or runs under another attempt. */
  | { kind: 'over' };

/** What became of operations that `startOperations` left out, in their order. */
export async function startsLeftOut(db: Sql, operations: StartingOperation[]): Promise<LeftOut[]> {
  const rows = await db.query<StartedOperation & { status: OperationStatus; attempt_id: string | null }>(
    'startsLeftOut',
    `select o.status, o.attempts -> -1 ->> 'id' as attempt_id, ${STARTED}
     from operation o join connection c on c.id = o.connection_id where o.id = any($1::uuid[])`,
    [operations.map((o) => o.id)],
  );
  const byId = new Map(rows.map((row) => [row.operation_id, row]));
  return operations.map(({ id, attemptId }): LeftOut => {
    const row = byId.get(id);
    if (row?.status === 'queued') return { kind: 'queued' };
    if (row?.status === 'running' && row.attempt_id === attemptId) return { kind: 'started', started: row };
    return { kind: 'over' };
  });
}

/** I2 Holds for the rows `o` that are still held, joined to the arrays of `heldArrays` as `i`. */
export const HELD = `o.id = i.id and o.epoch = i.epoch and o.attempts -> -1 ->> 'id' = i.attempt_id::text`;

export const heldArrays = (operations: HeldOperation[]) => [
  operations.map((o) => o.id),
  operations.map((o) => o.epoch),
  operations.map((o) => o.attemptId),
];

/**
 * The write boundary: makes phase `dispatching` durable, with when that was and who is let past it. Returns the ids it holds for. Any
 * other operation was fenced, or its cancel came first, and must send nothing. Asked for again, it keeps what was stored first.
 */
export async function enterDispatching(db: Sql, operations: HeldOperation[], worker: Worker): Promise<Set<string>> {
  const boundary: Boundary = { at: new Date().toISOString(), ...worker };
  const rows = await db.query<{ id: string }>(
    'enterDispatching',
    `update operation o set updated_at = now(), attempts = jsonb_set(o.attempts, '{-1}',
       jsonb_build_object('boundary', $4::jsonb) || (o.attempts -> -1) || '{"phase":"dispatching"}')
     from unnest($1::uuid[], $2::bigint[], $3::uuid[]) i(id, epoch, attempt_id)
     where ${HELD} and o.status = 'running' and not o.cancel_requested
     returning o.id`,
    [...heldArrays(operations), JSON.stringify(boundary)],
  );
  return new Set(rows.map((row) => row.id));
}

/** How an attempt ended. `queued` puts the operation back for another attempt; it stays in its owner's hand. */
export interface FinishedOperation extends HeldOperation {
  /** The status it is in now: `running`, or `waiting_user` when the wait itself ended it. */
  from: OperationStatus;
  to: Exclude<OperationStatus, 'running' | 'waiting_user'>;
  reason: string;
  attemptStatus: AttemptStatus;
  /** The step that the attempt came to; null: it stays as it is. */
  phase: Extract<AttemptPhase, 'confirming' | 'done'> | null;
  result: Record<string, unknown> | null;
  errorCode: string | null;
  errorDetails: Record<string, unknown> | null;
  /** Only of `outcome_unknown`. */
  evidence: StoredEvidence | null;
  /** Milliseconds that the attempt ran (OPS-17). */
  running_ms: number;
}

const TO_CANCEL = `i.status = 'queued' and o.cancel_requested`;
const CANCEL_STEP = OPERATION_STEPS.sql('running', 'canceled');

// `outcome`: what goes back to the queue is canceled instead when that was requested meanwhile (OPS-5).
const FINISH = `
  update operation o set status = case when ${TO_CANCEL} then ${CANCEL_STEP.to} else i.status end,
    result = i.result, result_sealed = i.result_sealed, error_code = i.error_code,
    error_details = i.error_details, evidence = i.evidence, challenge = null, updated_at = now(),
    attempts = jsonb_set(o.attempts, '{-1}', (o.attempts -> -1)
      || jsonb_build_object('status', i.attempt_status, 'completed_at', $9::text, 'running_ms', i.running_ms)
      || jsonb_strip_nulls(jsonb_build_object('phase', i.phase))),
    timeline = o.timeline || case when ${TO_CANCEL} then i.timeline || '{"to":"canceled","reason":"cancel_requested"}' else i.timeline end
  from unnest($1::uuid[], $2::bigint[], $3::uuid[], $4::text[], $5::jsonb[], $6::text[], $7::jsonb[], $8::text[], $10::jsonb[], $11::integer[], $12::bytea[], $13::text[], $14::jsonb[])
    i(id, epoch, attempt_id, status, result, error_code, error_details, attempt_status, timeline, running_ms, result_sealed, phase, evidence)
  where ${HELD} and o.status in ('running', 'waiting_user')
  returning o.id, o.status`;

/**
 * Ends attempts: status, result, attempt and timeline in one update. Returns the ids that were still held, each with the status it
 * has now: `canceled` instead of `queued` when that was requested. The others were fenced, or ended before, and nothing of theirs may be stored. Throws on an illegal step.
 */
export async function finishOperations(
  tx: Sql,
  operations: FinishedOperation[],
): Promise<Map<string, FinishedOperation['to']>> {
  const at = new Date();
  for (const o of operations) ATTEMPT_STEPS.check('running', o.attemptStatus, o.reason);
  const results = operations.map(({ id, result }) => result && tx.vault.store(pgSafeJson(result), resultContext(id)));
  const rows = await tx.query<{ id: string; status: FinishedOperation['to'] }>('finishOperations', FINISH, [
    ...heldArrays(operations),
    operations.map((o) => o.to),
    results.map((result) => result?.plain ?? null),
    operations.map((o) => o.errorCode),
    operations.map((o) => (o.errorDetails === null ? null : pgSafeJson(o.errorDetails))),
    operations.map((o) => o.attemptStatus),
    at.toISOString(),
    operations.map((o) => JSON.stringify(transition(o.from, o.to, o.reason, at))),
    operations.map((o) => Math.round(o.running_ms)),
    results.map((result) => result?.sealed ?? null),
    operations.map((o) => o.phase),
    operations.map((o) => o.evidence && JSON.stringify(o.evidence)),
  ]);
  return new Map(rows.map((row) => [row.id, row.status]));
}

/**
 * The status that this end of an attempt put its operation into; undefined when it never was stored. For an end whose answer was
 * lost and that is no longer held: it may be no longer held because it was stored.
 */
export async function storedEnd(
  db: Sql,
  { id, epoch, attemptId, attemptStatus }: FinishedOperation,
): Promise<OperationStatus | undefined> {
  const rows = await db.query<{ status: OperationStatus }>(
    'storedEnd',
    `select status from operation where id = $1 and epoch = $2
       and attempts -> -1 @> jsonb_build_object('id', $3::uuid, 'status', $4::text) and attempts -> -1 ? 'running_ms'`,
    [id, epoch, attemptId, attemptStatus],
  );
  return rows[0]?.status;
}

/** Of these operations, those whose rows are not locked; they are locked now. In a transaction. */
export async function lockUnlocked(tx: Sql, ids: string[]): Promise<Set<string>> {
  const rows = await tx.query<{ id: string }>(
    'lockUnlocked',
    'select id from operation where id = any($1::uuid[]) order by id for update skip locked',
    [ids],
  );
  return new Set(rows.map((row) => row.id));
}
