import type { Boundary, StoredEvidence, Worker } from '../model/evidence.js';
import type { AttemptPhase, AttemptStatus, OperationStatus } from '../model/records.js';
import { ATTEMPT_STEPS, OPERATION_STEPS, transition } from '../model/transitions.js';
import { bigints, byteas, integers, jsonbs, smallints, texts, uuids } from '../postgres/arrays.js';
import type { Sql } from '../postgres/database.js';
import { pgSafeJson } from '../postgres/pg-safe-json.js';
import { resultContext } from '../secrets/sealing.js';
import { FENCE, type HeldOperation, type StartedOperation, type StartingOperation, startSql } from './starts.js';

/**
 * The writes of an execution that has started; `OPERATION_STEPS` has the states. Each takes a batch.
 *
 * Invariant: I1 each is held by the operation's own row: recovery changes its status or attempt under a row lock, so a former owner
 * matches no row.
 */

/** I1 Holds for the rows `o` that are still held, joined to the arrays of `heldArrays` as `i`. */
export const HELD = `o.id = i.id and o.epoch = i.epoch and o.attempts -> -1 ->> 'id' = i.attempt_id::text`;

export const heldArrays = (operations: HeldOperation[]) => [
  uuids(operations.map((o) => o.id)),
  bigints(operations.map((o) => o.epoch)),
  uuids(operations.map((o) => o.attemptId)),
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
  phase: Extract<AttemptPhase, 'preparing' | 'confirming' | 'done'> | null;
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

/** The reason of an operation that goes back to the queue until this node has the key that its input or secrets are sealed under. */
export const WAITS_FOR_KEY = 'retry_encryption_key_unknown';

/** It waited for its key already: an attempt and two steps that say so again take the place of those before (OPS-4). */
const WAITS_ON = `i.status = 'queued' and not o.cancel_requested and i.timeline ->> 'reason' = '${WAITS_FOR_KEY}'
  and o.timeline -> -2 ->> 'reason' = '${WAITS_FOR_KEY}'`;

// Triggers of the schema go with the new status, in the same transaction: `operation_finish_told` announces the end (EVT-20), `operation_unknown`
// notes an unknown outcome, `operation_waiting` forgets that it waited.
// What goes back to the queue is canceled instead when that was requested meanwhile (OPS-5). The step begins where the row is: a code may have been
// taken of which the one who ends the wait has not heard.
const FINISH = `
  update operation o set status = case when ${TO_CANCEL} then ${CANCEL_STEP.to} else i.status end,
    result = i.result, result_sealed = i.result_sealed, error_code = i.error_code,
    error_details = i.error_details, evidence = i.evidence, challenge = null, updated_at = now(),
    attempts = jsonb_set(case when ${WAITS_ON} then o.attempts - -2 else o.attempts end, '{-1}', (o.attempts -> -1)
      || jsonb_build_object('status', i.attempt_status, 'completed_at', $9::text, 'running_ms', i.running_ms)
      || jsonb_strip_nulls(jsonb_build_object('phase', i.phase, 'number', case when ${WAITS_ON} then jsonb_array_length(o.attempts) - 1 end))),
    timeline = case when ${WAITS_ON} then (o.timeline - -1) - -1 else o.timeline end
      || (i.timeline || jsonb_build_object('from', o.status) || case when ${TO_CANCEL} then '{"to":"canceled","reason":"cancel_requested"}' else '{}' end::jsonb)
  from unnest($1::uuid[], $2::bigint[], $3::uuid[], $4::text[], $5::jsonb[], $6::text[], $7::jsonb[], $8::text[], $10::jsonb[], $11::integer[], $12::bytea[], $13::text[], $14::jsonb[])
    i(id, epoch, attempt_id, status, result, error_code, error_details, attempt_status, timeline, running_ms, result_sealed, phase, evidence)
  where ${HELD} and o.status in ('running', 'waiting_user')
  returning o.id as finished_id, o.status as finished_status`;

// What runs next in a mailbox starts only where what ran before is over now, by this very statement.
const FINISH_AND_START = `
  with finished as (${FINISH}), input as (
    select * from unnest($15::uuid[], $16::smallint[], $17::bigint[], $18::uuid[], $19::uuid[], $22::uuid[])
      i(id, partition, epoch, attempt_id, connection_id, after)
  ), fence as materialized (${FENCE}), started as (
    ${startSql({ writes: '$20', at: '$9', step: '$21', where: "i.after = any(array(select finished_id from finished where finished_status <> 'queued'))" })}, i.after
  )
  select f.finished_id, f.finished_status, s.* from finished f left join started s on s.after = f.finished_id`;

/** What the end of an attempt was stored as. */
export interface StoredFinish {
  status: FinishedOperation['to'];
  /** The next operation of its connection, where that was asked for and could be started. */
  started: StartedOperation | undefined;
}

type FinishRow = { finished_id: string; finished_status: FinishedOperation['to'] } & (
  | StartedOperation
  | { operation_id?: null }
);

/**
 * Ends attempts: status, result, attempt and timeline in one update. Returns the ids that were still held, each with the status it
 * has now: `canceled` instead of `queued` when that was requested. The others were fenced, or ended before, and nothing of theirs may be stored. Throws on an illegal step.
 *
 * `next`: by the id of what ends, what is to start once it is over, as `startOperations` starts it with these `writes`; what cannot be started
 * now stays queued.
 */
export async function finishOperations(
  tx: Sql,
  operations: FinishedOperation[],
  next: ReadonlyMap<string, StartingOperation> = new Map(),
  writes: readonly string[] = [],
): Promise<Map<string, StoredFinish>> {
  const at = new Date();
  for (const o of operations) ATTEMPT_STEPS.check('running', o.attemptStatus, o.reason);
  const results = operations.map(({ id, result }) => result && tx.vault.store(pgSafeJson(result), resultContext(id)));
  const ends = [
    ...heldArrays(operations),
    texts(operations.map((o) => o.to)),
    jsonbs(results.map((result) => result?.plain ?? null)),
    texts(operations.map((o) => o.errorCode)),
    jsonbs(operations.map((o) => (o.errorDetails === null ? null : pgSafeJson(o.errorDetails)))),
    texts(operations.map((o) => o.attemptStatus)),
    at.toISOString(),
    jsonbs(operations.map((o) => JSON.stringify(transition(o.from, o.to, o.reason, at)))),
    integers(operations.map((o) => Math.round(o.running_ms))),
    byteas(results.map((result) => result?.sealed ?? null)),
    texts(operations.map((o) => o.phase)),
    jsonbs(operations.map((o) => o.evidence && JSON.stringify(o.evidence))),
  ];
  const rows =
    next.size === 0
      ? await tx.query<FinishRow>('finishOperations', FINISH, ends)
      : await tx.query<FinishRow>('finishAndStart', FINISH_AND_START, [...ends, ...startArrays(next, writes, at)]);
  return new Map(
    rows.map((row) => [
      row.finished_id,
      { status: row.finished_status, started: typeof row.operation_id === 'string' ? row : undefined },
    ]),
  );
}

function startArrays(next: ReadonlyMap<string, StartingOperation>, writes: readonly string[], at: Date): unknown[] {
  const starts = [...next.values()];
  return [
    uuids(starts.map((o) => o.id)),
    smallints(starts.map((o) => o.partition)),
    bigints(starts.map((o) => o.epoch)),
    uuids(starts.map((o) => o.attemptId)),
    uuids(starts.map((o) => o.connectionId)),
    texts(writes),
    JSON.stringify([transition('queued', 'running', 'started', at)]),
    uuids([...next.keys()]),
  ];
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
